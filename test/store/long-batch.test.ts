// Requests of one workspace delay those of another by what the database does at once, not by all that wait.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { dataSourceDefinition } from '../../src/domain/catalogue/catalogue.ts';
import { type DocumentKey, type DocumentTotal, SINGLETON_ID, UNLIMITED } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { userGroupKey } from '../../src/domain/user-group/user-group.ts';
import type { BatchingStore } from '../../src/store/batching-store.ts';
import type { Command } from '../../src/store/port.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { TestService } from '../support/service.ts';
import { runSql } from '../support/sql.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

const GROUPS = 64;
const ROUNDS = 3;
const COMMANDS = 64;
/** More than the batches in flight have. */
const MANY_COMMANDS = 2_000;
const ROWS = 500;

describe('A change of another workspace waits for a part', () => {
  const service = TestService.of(sqlite);

  /** Returns how many of the commands are done when a later one of another workspace is. */
  async function countDone(commands: readonly Command[]): Promise<number> {
    const { store } = service.app.context;
    let done = 0;
    const writing = commands.map((command) =>
      store
        .forTenant(1)
        .write(command)
        .then(() => done++),
    );
    await store.forTenant(2).write({ kind: 'pingWrite' });
    const before = done;
    await Promise.all(writing);
    return before;
  }

  function putOf(key: DocumentKey, limit: DocumentTotal): Command {
    return { kind: 'putDocument', key, body: '{}' as JsonText, limit, now: 1, event: undefined };
  }

  it('of many commands that each change many rows', async () => {
    await runSql(
      service.database,
      `with recursive numbers(number) as (select 1 union all select number + 1 from numbers where number < ${COMMANDS * ROWS})
       insert into deliveries (bucket, workspace_id, environment, endpoint_id, event_id, event_type, target_type,
         target_id, position, state, attempts, next_attempt_at, created_at)
       select 1, 1, 'Customer', 'crm', 'evt_' || number, 'user_group.created', 'user_group', 'g', number, 'failed', 8,
         null, 1 from numbers`,
    );
    const endpoint = { workspaceId: 1, environment: 'Customer', endpointId: 'crm' } as const;
    const retry = { kind: 'retryFailedDeliveries', endpoint, after: '', now: 1, limit: ROWS } as const;
    const done = await countDone(Array.from({ length: COMMANDS }, () => retry));
    assert.ok(done < COMMANDS / 2, `${done}`);
  });

  it('of many data sources, each added up with all others of its workspace', async () => {
    const { limit } = dataSourceDefinition;
    const key = { workspaceId: 1, environment: 'Customer', kind: 'data_source' } as const;
    const done = await countDone(
      Array.from({ length: COMMANDS }, (_, index) => putOf({ ...key, id: `source-${index}` }, limit)),
    );
    assert.ok(done < COMMANDS / 2, `${done}`);
  });

  it('of many commands, also if it follows a new key set, whose kind has no limit', async () => {
    const key = { workspaceId: 2, environment: 'Customer', kind: 'key_set', id: SINGLETON_ID } as const;
    const creating = service.app.context.store.forTenant(2).write(putOf(key, UNLIMITED));
    const pings = Array.from({ length: MANY_COMMANDS }, () => ({ kind: 'pingWrite' }) as const);
    const done = await countDone(pings);
    await creating;
    assert.ok(done < MANY_COMMANDS / 2, `${done}`);
  });

  it('of many small changes of large groups', async () => {
    const { store } = service.app.context;
    const properties = JSON.stringify({ text: 'x'.repeat(60_000) }) as JsonText;
    const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
    await storeUserGroups(store, 'default', Object.fromEntries(ids.map((id) => [id, { properties }])));
    const done = await countDone(
      ids.map((id) => {
        const key = userGroupKey({ workspaceId: 1, environment: 'Customer' }, id);
        return { kind: 'updateUserGroup', key, suspendedAt: 1, now: 1 };
      }),
    );
    assert.ok(done <= GROUPS / 2, `${done}`);
  });
});

describeOnEachDatabase('A workspace whose groups are large', (database) => {
  const service = TestService.of(database);
  const keyOf = (id: string) => userGroupKey({ workspaceId: 1, environment: 'Customer' }, id);
  const ids = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
  before(async () => {
    const properties = JSON.stringify({ text: 'x'.repeat(60_000) }) as JsonText;
    await storeUserGroups(service.app.context.store, 'default', {
      ...Object.fromEntries(ids.map((id) => [id, { properties }])),
      small: {},
    });
  });

  const requests: Record<string, (store: BatchingStore, id: string) => Promise<unknown>> = {
    reads: (store, id) => store.read({ kind: 'findUserGroup', key: keyOf(id) }),
    'small changes': (store, id) =>
      store.write({ kind: 'updateUserGroup', key: keyOf(id), suspendedAt: Date.now(), now: 1 }),
  };
  for (const [name, request] of Object.entries(requests)) {
    it(`delays another one by few of its ${name}`, async () => {
      const { store } = service.app.context;
      let done = 0;
      const start = () => ids.map((id) => request(store.forTenant(1), id).then(() => done++));
      await Promise.all(start());
      const before: number[] = [];
      // On a busy machine, the connection that serves the other workspace may be the slower one.
      for (let round = 0; round < ROUNDS; round++) {
        done = 0;
        const running = start();
        await request(store.forTenant(2), 'small');
        before.push(done);
        await Promise.all(running);
      }
      const [, median] = before.toSorted((a, b) => a - b);
      assert.ok(median! <= GROUPS / 2, `${before}`);
    });
  }
});
