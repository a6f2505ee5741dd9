// Requests that need the configuration of an environment share a query, but not the failure of another
// request.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../../src/domain/api-token.ts';
import type { Document } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { atCurrentConfig, EnvironmentConfigs } from '../../src/operations/document/environment-config.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import type { BatchingStore } from '../../src/store/batching-store.ts';
import { CONFIG_PAGE, StartedTooLate } from '../../src/store/port.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const PAGES = 8;
const CREATIONS = 64;
const ENVIRONMENTS = 10_000;
const [SMALL, LARGE] = [1, 2];
/** Size of all configurations in memory. */
const MAX_CHARACTERS = 256 * 1024 * 1024;

describeOnEachDatabase('A large configuration', (kind) => {
  const service = TestService.of(kind);
  let token = '';
  let caller: Caller;
  before(async () => {
    const workspaceName = 'large';
    token = (await service.apiToken({ permission: 'admin', workspaceName })).token;
    const { store } = service.app.context;
    const { workspaceId } = (await ensureWorkspace(store, workspaceName, 0)).workspace;
    const documents = Array.from(
      { length: PAGES * CONFIG_PAGE },
      (_, index): Document => ({
        ...{ workspaceId, environment: 'Customer', kind: 'data_source', id: `source-${index}`, version: 1 },
        body: `{"data_source_id":${index + 1},"schema_id":"40","name":"Large","attributes":{}}` as JsonText,
        ...{ secret: null, createdAt: 0, updatedAt: 0 },
      }),
    );
    // Keeps transactions short on a busy machine.
    for (let start = 0; start < documents.length; start += 100)
      await store.write({ kind: 'copyDocuments', documents: documents.slice(start, start + 100) });
    caller = await atCurrentConfig(store, { workspaceId, environment: 'Customer' } as Caller);
  });

  it('is read for the requests that wait together with one that runs out of time', async () => {
    const { store } = service.app.context;
    const configs = new EnvironmentConfigs();
    const first = configs.of(store, { ...caller, configVersion: 1 });
    await nextTurn();
    const late = configs.of(store.until(performance.now()), caller);
    const others = [configs.of(store, caller), configs.of(store, caller)];
    await assert.rejects(Promise.resolve(late), StartedTooLate);
    for (const config of await Promise.all([first, ...others]))
      assert.equal(config.version, caller.configVersion);
  });

  it(`can be changed by ${CREATIONS} concurrent creations of one document`, async () => {
    const body = { name: 'New', default_data_source: null };
    const creations = Array.from({ length: CREATIONS }, () =>
      served(async () => {
        const created = await service.call('PUT', '/v1/schemas/new', body, { token });
        // A busy machine may refuse the call for other reasons.
        assert.doesNotMatch(created.text, /too often/);
        return created;
      }),
    );
    const statuses = (await Promise.all(creations)).map(({ status }) => status).toSorted();
    assert.deepEqual(statuses, [...Array.from({ length: CREATIONS - 1 }, () => 200), 201]);
  });
});

/** Stands for the store: `read` returns the configuration of a workspace at the time of the query. */
function storeWith(read: (workspaceId: number) => Promise<StoredConfig>): BatchingStore {
  const store = {
    read: async ({ tenant }: { tenant: Tenant }) => {
      const { version, characters = 0 } = await read(tenant.workspaceId);
      return { version, pages: [[{ kind: 'schema', id: 's', body: 'x'.repeat(characters) }]] };
    },
    inTime: (config: unknown) => config,
    until: () => store,
  } as unknown as BatchingStore;
  return store;
}

interface StoredConfig {
  version: number;
  characters?: number;
}

function callerAt(configVersion: number, workspaceId = 1): Caller {
  return { workspaceId, environment: 'Customer', configVersion } as Caller;
}

describe('A configuration in memory', () => {
  it('is read again by the next request if its query has failed', async () => {
    let reads = 0;
    const store = storeWith(async () => {
      if (++reads === 1) throw new Error('lost');
      return { version: 1 };
    });
    const configs = new EnvironmentConfigs();
    await assert.rejects(async () => configs.of(store, callerAt(1)), /lost/);
    assert.equal((await configs.of(store, callerAt(1))).version, 1);
  });

  it(`stays there beside those of ${ENVIRONMENTS} environments`, async () => {
    let reads = 0;
    const store = storeWith(async () => ({ version: ++reads }));
    const configs = new EnvironmentConfigs();
    for (let request = 0; request < 2 * ENVIRONMENTS; request++) {
      const version = 1 + (request % ENVIRONMENTS);
      assert.equal((await configs.of(store, callerAt(version, version))).version, version);
    }
    assert.equal(reads, ENVIRONMENTS);
  });

  it('stays there beside a large one that changes, but not beside one that takes all the memory', async () => {
    const stored = new Map<number, StoredConfig>([[SMALL, { version: 1 }]]);
    let reads = 0;
    const store = storeWith(async (workspaceId) => {
      reads++;
      return stored.get(workspaceId)!;
    });
    const configs = new EnvironmentConfigs();
    const read = (workspaceId: number) =>
      configs.of(store, callerAt(stored.get(workspaceId)!.version, workspaceId));
    await read(SMALL);
    for (let version = 1; version <= 3; version++) {
      stored.set(LARGE, { version, characters: MAX_CHARACTERS / 2 });
      await read(LARGE);
    }
    assert.equal(reads, 4);
    await read(SMALL);
    assert.equal(reads, 4);
    stored.set(LARGE, { version: 4, characters: MAX_CHARACTERS });
    for (const workspaceId of [LARGE, LARGE, SMALL]) await read(workspaceId);
    assert.equal(reads, 6);
  });
});
