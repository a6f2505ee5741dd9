// PostgreSQL: another process changes a row after a command has read it and before the command changes it.

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { documentTag } from '../../src/domain/document.ts';
import { endpointDocumentKey } from '../../src/domain/webhook-endpoint/webhook-endpoint.ts';
import { postgres } from '../support/database.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { runSql, SqlConnection } from '../support/sql.ts';
import { Receiver } from '../support/webhooks/receiver.ts';
import { env, PATH, Tenant } from '../support/webhooks/tenant.ts';

const WORKSPACE = 'shop';

describe('A row that two processes change', () => {
  const [service, other] = TestService.pairOf(postgres, { env });
  let receiver: Receiver;
  let tenant: Tenant;
  before(async () => {
    receiver = await Receiver.start();
    tenant = await Tenant.create(service, WORKSPACE);
    await tenant.endpoint('hook', receiver.url);
    await tenant.createGroup('acme');
  });
  after(() => receiver[Symbol.asyncDispose]());
  beforeEach(() => tenant.waitFor('hook', ({ state }) => state === 'delivered'));

  /** Runs the statement in a transaction that ends once all calls wait for it. */
  async function whileWaiting<Result>(
    statement: string,
    startCalls: () => Promise<Result>[],
  ): Promise<Result[]> {
    await using client = await SqlConnection.open(service.database.url);
    await client.query(`begin; ${statement}`);
    const calls = startCalls();
    await eventually('the calls to wait', async () => {
      // Within a transaction, PostgreSQL returns the same list of sessions every time.
      await client.query('select pg_stat_clear_snapshot()');
      const { rowCount } = await client.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rowCount === calls.length;
    });
    await client.query('commit');
    return await Promise.all(calls);
  }

  it('is redelivered once by two concurrent calls that redeliver what has failed', async () => {
    const fail = "update deliveries set state = 'failed'";
    await runSql(service.database, fail);
    const body = { since: new Date(0).toISOString() };
    const responses = await whileWaiting(fail, () =>
      [service, other].map((each) => tenant.call('POST', `${PATH}/hook/redeliver-failed`, body, each)),
    );
    assert.deepEqual(responses.map(({ json }) => json.redelivered).toSorted(), [0, 1]);
  });

  it('stays delivered if the deliveries of its endpoint are given up when the attempt ends', async () => {
    const { store } = service.app.context;
    const { workspaceId } = (await store.read({ kind: 'findWorkspace', name: WORKSPACE }))!;
    const endpoint = { workspaceId, environment: 'Customer', endpointId: 'hook' } as const;
    const inAnHour = Date.now() + 3_600_000;
    await runSql(service.database, `update deliveries set state = 'pending', next_attempt_at = ${inAnHour}`);
    const document = await store.read({ kind: 'findDocument', key: endpointDocumentKey(endpoint) });
    const tag = documentTag(document!);
    await whileWaiting("update deliveries set state = 'delivered', next_attempt_at = null", () => [
      store.write({ kind: 'cancelDeliveries', endpoint, tag, error: 'disabled', limit: 10 }),
    ]);
    const [delivery] = await tenant.deliveries('hook');
    assert.deepEqual([delivery!.state, delivery!.error], ['delivered', null]);
  });

  // Last, because it deletes the delivery.
  it('is counted by only one of two calls that delete it', async () => {
    const { store } = service.app.context;
    const { workspaceId } = (await store.read({ kind: 'findWorkspace', name: WORKSPACE }))!;
    const usage = `insert into usage_counts values (1, ${workspaceId}, 'Customer', 'acme', 1, 'resolves', '', 1)`;
    await runSql(service.database, usage);
    const tenant = { workspaceId, environment: 'Customer' } as const;
    const range = { before: Number.MAX_SAFE_INTEGER, limit: 1 };
    const commands = {
      deliveries: { kind: 'deleteOldDeliveries', endpoint: { ...tenant, endpointId: 'hook' }, ...range },
      events: { kind: 'deleteOldEvents', tenant, ...range },
      usage_counts: { kind: 'deleteOldUsage', tenant, ...range },
    } as const;
    for (const [table, command] of Object.entries(commands)) {
      const results = await whileWaiting(`select 1 from ${table} for update`, () =>
        [service, other].map((each) => each.app.context.store.write(command)),
      );
      assert.deepEqual(results.map(({ deleted }) => deleted).toSorted(), [0, 1], table);
    }
  });
});
