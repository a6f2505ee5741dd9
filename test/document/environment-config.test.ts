// Requests that need the configuration of an environment share a query, but not the failure of another
// request.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../../src/domain/api-token.ts';
import type { Document } from '../../src/domain/document.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
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

it(`The configurations of ${ENVIRONMENTS} environments stay in memory`, async () => {
  let reads = 0;
  const store = {
    read: async () => ({ version: ++reads, pages: [] }),
    inTime: (config: unknown) => config,
    until: () => store,
  } as unknown as BatchingStore;
  const configs = new EnvironmentConfigs();
  for (let request = 0; request < 2 * ENVIRONMENTS; request++) {
    const version = 1 + (request % ENVIRONMENTS);
    const requesting = { workspaceId: version, environment: 'Customer', configVersion: version } as Caller;
    assert.equal((await configs.of(store, requesting)).version, version);
  }
  assert.equal(reads, ENVIRONMENTS);
});
