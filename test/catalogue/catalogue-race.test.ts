// Results of changes of the catalogue that other calls interleave with: what was checked is what is replaced.

import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller } from '../../src/domain/api-token.ts';
import { dataSourceBody, schemaBody } from '../../src/domain/catalogue/catalogue-body.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { digestOfApiToken, PresentedToken } from '../../src/domain/token.ts';
import { authenticate } from '../../src/operations/api-token/authenticate.ts';
import { putDataSource, putSchema } from '../../src/operations/catalogue/catalogue.ts';
import { deleteSchema } from '../../src/operations/catalogue/use.ts';
import type { Context } from '../../src/operations/context.ts';
import { EnvironmentConfigs } from '../../src/operations/document/environment-config.ts';
import { type EmbedToken, mintEmbedToken } from '../../src/operations/embed-token/embed-token.ts';
import { KeyedMutex } from '../../src/operations/machinery/keyed-mutex.ts';
import { patchUserGroup } from '../../src/operations/user-group/patch.ts';
import { renameUserGroup } from '../../src/operations/user-group/rename.ts';
import { identifyViewer } from '../../src/operations/user-group/resolve.ts';
import { mintTestToken, viewAs } from '../../src/operations/user-group/view-as.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { csrfOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import type { TestResponse } from '../support/http.ts';
import { intercept } from '../support/intercept.ts';
import { TestService } from '../support/service.ts';

const LARGE = { text: 'x'.repeat(16_000) };
/** Time of a slow query, in which a user group is renamed and created again. */
const SLOW_MS = 500;
/** Data sources that exceed the size of a resolution together. */
const MANY = 20;
/** Data sources that do not, but do with one more. */
const ALMOST_TOO_MANY = 16;

/** Returns the claims of a token for Metabase. */
function paramsOf({ token }: EmbedToken): object {
  return JSON.parse(Buffer.from(token.reveal().split('.')[1]!, 'base64url').toString()).params;
}

describeOnEachDatabase('A change of the catalogue', (database) => {
  // One thread: a test replaces what a request calls, in the main thread only.
  const service = TestService.of(database, { env: { UGS_THREADS: '1' } });
  let token: string;
  let workspaces = 0;
  beforeEach(async () => {
    const workspaceName = `concurrent ${workspaces++}`;
    ({ token } = await service.apiToken({ permission: 'admin', workspaceName }));
  });

  const call = (method: string, path: string, body?: object) =>
    service.call(method, `/v1/${path}`, body, { token });
  const currentCaller = () => authenticate(service.app.context, digestOfApiToken(token));
  const createGroup = async (id: string, mapping: object | null = null): Promise<string> => {
    const { json } = await call('POST', 'user-groups', { user_group_id: id, name: id, mapping });
    return json.user_group.token;
  };

  /** Returns the context of an operation that other calls interrupt before its first command. */
  function interrupted(change: () => Promise<unknown>): Context {
    const { context } = service.app;
    const store = intercept(context.store, {
      firstWrite: async (command, real) => {
        await change();
        return real.write(command);
      },
    });
    return { ...context, store };
  }

  const SOURCE = { schema_id: '40', name: 'Source', attributes: {} };
  const putSource = (context: Context, id: string, fields: object) =>
    currentCaller().then((caller) =>
      putDataSource(
        context,
        caller,
        id,
        dataSourceBody.read(Buffer.from(JSON.stringify({ ...SOURCE, ...fields }))),
        undefined,
      ),
    );
  const numberOf = async (id: string): Promise<number> =>
    (await call('GET', `data-sources/${id}`)).json.data_source.data_source_id;

  it('keeps the number of a data source that was deleted and created again meanwhile', async () => {
    await call('PUT', 'data-sources/a', SOURCE);
    const first = await numberOf('a');
    let second: number | undefined;
    const context = interrupted(async () => {
      await call('DELETE', 'data-sources/a');
      await call('PUT', 'data-sources/a', SOURCE);
      second = await numberOf('a');
    });
    await putSource(context, 'a', { name: 'Replaced' });
    assert.notEqual(second, first);
    assert.equal(await numberOf('a'), second);
  });

  it('does not give a data source the number of one that was deleted meanwhile', async () => {
    await call('PUT', 'data-sources/a', SOURCE);
    const first = await numberOf('a');
    const context = interrupted(() => call('DELETE', 'data-sources/a'));
    assert.ok((await putSource(context, 'a', { name: 'Replaced' })).created);
    assert.notEqual(await numberOf('a'), first);
  });

  it('is refused if it would remove a default that was stored meanwhile', async () => {
    await createGroup('g');
    const withDefault = () => call('PUT', 'schemas/40', { name: 'S', default_data_source: 'a' });
    await call('PUT', 'schemas/40', { name: 'S' });
    const caller = await currentCaller();
    const body = schemaBody.read(Buffer.from('{"name":"Renamed"}'));
    await assert.rejects(putSchema(interrupted(withDefault), caller, '40', body, undefined, false), {
      code: 'in_use',
    });
    await call('PUT', 'schemas/40?force=true', { name: 'S' });
    await assert.rejects(
      deleteSchema(interrupted(withDefault), await currentCaller(), '40', undefined, false),
      { code: 'in_use' },
    );
    assert.equal((await call('GET', 'schemas/40')).json.schema.default_data_source, 'a');
  });

  it('makes a patch report only the violations of what it stores', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/a', SOURCE);
    await call('PUT', 'mapping-policy', { mode: 'report' });
    await createGroup('g', { 40: 'missing' });
    const repair = () => service.put({ user_group_id: 'g', mapping: { 40: 'a' } }, { token });
    const context = { ...interrupted(repair), violations: [] };
    const patch = { mapping: '{"41":"missing"}' as JsonText };
    await patchUserGroup(context, await currentCaller(), 'g', patch, undefined);
    assert.deepEqual(
      context.violations.map(({ pointer }) => pointer),
      ['/mapping/41'],
    );
  });

  it('is refused if it and concurrent ones together make resolutions too large', async () => {
    for (let index = 0; index < MANY; index++)
      await call('PUT', `schemas/${index}`, { name: 'S', default_data_source: `source-${index}` });
    const viewer = await createGroup('g');
    const puts = Array.from({ length: MANY }, (_, index) =>
      call('PUT', `data-sources/source-${index}`, { schema_id: `${index}`, name: 'D', attributes: LARGE }),
    );
    // On a busy machine, some may have to wait too long.
    for (const { status } of await Promise.all(puts)) assert.ok([201, 409, 503].includes(status));
    assert.equal((await service.resolve(viewer, { token })).status, 200);
  });

  /** Stores defaults that exceed the size of a resolution together with one more large one. */
  async function fillDefaults(): Promise<void> {
    for (let index = 0; index < ALMOST_TOO_MANY; index++) {
      await call('PUT', `schemas/${index}`, { name: 'S', default_data_source: `source-${index}` });
      const source = { schema_id: `${index}`, name: 'D', attributes: LARGE };
      assert.equal((await call('PUT', `data-sources/source-${index}`, source)).status, 201);
    }
  }

  it('is refused if a default that it stores was made too large meanwhile', async () => {
    await fillDefaults();
    await call('PUT', 'data-sources/a', { ...SOURCE, name: 'Longer than the other' });
    await call('PUT', 'data-sources/b', SOURCE);
    await call('PUT', 'schemas/40', { name: 'S', default_data_source: 'a' });
    const enlarge = () => call('PUT', 'data-sources/b', { ...SOURCE, attributes: LARGE });
    const caller = await currentCaller();
    const body = schemaBody.read(Buffer.from('{"name":"S","default_data_source":"b"}'));
    await assert.rejects(putSchema(interrupted(enlarge), caller, '40', body, undefined, false), {
      code: 'limit_reached',
    });
    const viewer = await createGroup('g');
    assert.equal((await service.resolve(viewer, { token })).status, 200);
  });

  for (const isNew of [true, false])
    it(`is refused if ${isNew ? 'a new' : 'the'} large data source became a default meanwhile`, async () => {
      await fillDefaults();
      if (!isNew) await call('PUT', 'schemas/40', { name: 'S' });
      if (!isNew) await call('PUT', 'data-sources/a', SOURCE);
      const setDefault = () => call('PUT', 'schemas/40', { name: 'S', default_data_source: 'a' });
      await assert.rejects(putSource(interrupted(setDefault), 'a', { attributes: LARGE }), {
        code: 'limit_reached',
      });
      const viewer = await createGroup('g');
      assert.equal((await service.resolve(viewer, { token })).status, 200);
    });

  it('is refused if another process made another default too large meanwhile', async () => {
    await call('PUT', 'schemas/40', { name: 'S', default_data_source: 'a' });
    await call('PUT', 'data-sources/a', SOURCE);
    const context = { ...interrupted(fillDefaults), catalogueMutex: new KeyedMutex() };
    await assert.rejects(putSource(context, 'a', { attributes: LARGE }), { code: 'limit_reached' });
    const viewer = await createGroup('g');
    assert.equal((await service.resolve(viewer, { token })).status, 200);
  });

  it('reserves a data source for the new id of a group that is renamed meanwhile', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    const viewer = await createGroup('old', { 40: 'a' });
    const context = interrupted(() => call('PUT', 'data-sources/a', { ...SOURCE, user_group_id: 'old' }));
    await renameUserGroup(context, await currentCaller(), 'old', 'new', undefined);
    assert.equal((await call('GET', 'data-sources/a')).json.data_source.user_group_id, 'new');
    assert.equal((await service.resolve(viewer, { token })).json.data_sources['40'].provided_id, 'a');
    const other = await createGroup('old', { 40: 'a' });
    assert.deepEqual((await service.resolve(other, { token })).json.data_sources, {});
  });

  it('by a rename does not lead another group with the earlier id to a reserved data source', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/a', { ...SOURCE, user_group_id: 'old' });
    const claims = { id: { field: 'team_id' }, source: { mapping: '40' } };
    await call('PUT', 'integrations/tool', { ...integrations.metabase, claims });
    const teamIdOf = async (id: string) => (await call('GET', `user-groups/${id}`)).json.user_group.team_id;
    await createGroup('old', { 40: 'a' });
    const teamId = await teamIdOf('old');
    const caller = await currentCaller();
    const { context } = service.app;
    const configs = new EnvironmentConfigs();
    const of = async (...args: Parameters<EnvironmentConfigs['of']>) => {
      const config = await context.configs.of(...args);
      await call('POST', 'user-groups/old/rename', { user_group_id: 'new' });
      await createGroup('old', { 40: 'a' });
      return config;
    };
    // A rename that does not wait until the group was read comes before that.
    const store = intercept(context.store, { beforeFirstRead: () => sleep(SLOW_MS) });
    await context.configs.of(context.store, caller);
    const startedAt = performance.now();
    const interruptedContext = { ...context, store, startedAt, configs: Object.assign(configs, { of }) };
    const body = { integration: 'tool', group: { userGroupId: 'old' }, viewer: null, narrow: null };
    const resource = '{"dashboard":7}' as JsonText;
    const minted = await mintEmbedToken(interruptedContext, caller, { ...body, resource });
    assert.deepEqual(paramsOf(minted), { id: teamId, source: 'a' });
    assert.notEqual(await teamIdOf('old'), teamId);
  });

  it('by a rename leaves no viewer without the data source that stays reserved', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/a', { ...SOURCE, user_group_id: 'old' });
    const claims = { id: { field: 'provided_id' }, source: { mapping: '40' } };
    await call('PUT', 'integrations/tool', { ...integrations.metabase, claims });
    const viewer = new PresentedToken(await createGroup('old', { 40: 'a' }));
    const { context } = service.app;
    const renamedMeanwhile = (from: string, to: string): Context => {
      const configs = new EnvironmentConfigs();
      let isRenamed = false;
      const of = async (store: Context['store'], caller: Caller) => {
        if (!isRenamed) await call('POST', `user-groups/${from}/rename`, { user_group_id: to });
        isRenamed = true;
        return context.configs.of(store, { ...caller, configVersion: null });
      };
      return { ...context, configs: Object.assign(configs, { of }) };
    };
    const viewed = (await identifyViewer(renamedMeanwhile('old', 'new'), await currentCaller(), viewer))!;
    assert.equal(viewed.userGroup.providedId, 'new');
    assert.deepEqual([...viewed.effective!.dataSources.keys()], ['40']);
    const body = { integration: 'tool', group: { token: viewer }, viewer: null, narrow: null };
    const resource = '{"dashboard":7}' as JsonText;
    const interrupted = renamedMeanwhile('new', 'newer');
    const minted = await mintEmbedToken(interrupted, await currentCaller(), { ...body, resource });
    assert.deepEqual(paramsOf(minted), { id: 'newer', source: 'a' });
  });

  it('by a rename does not lead the group that had its new id to its data source', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/b', { ...SOURCE, user_group_id: 'b' });
    const claims = { id: { field: 'provided_id' }, source: { mapping: '40' } };
    await call('PUT', 'integrations/tool', { ...integrations.metabase, claims });
    const viewer = new PresentedToken(await createGroup('a', { 40: 'b' }));
    await createGroup('b');
    const caller = await currentCaller();
    const { context } = service.app;
    const rename = (from: string, to: string) =>
      call('POST', `user-groups/${from}/rename`, { user_group_id: to });
    /** Gives the id of group `from` to the owner of the data source after the group was read. */
    const replacedMeanwhile = (from: string, to: string, owner: string): Context => {
      const configs = new EnvironmentConfigs();
      let isReplaced = false;
      const of = async (store: Context['store'], reader: Caller) => {
        if (!isReplaced) await rename(from, to);
        if (!isReplaced) await rename(owner, from);
        isReplaced = true;
        return context.configs.of(store, { ...reader, configVersion: null });
      };
      // A rename that does not wait until the group was read comes before that.
      const store = intercept(context.store, { beforeFirstRead: () => sleep(SLOW_MS) });
      return { ...context, store, configs: Object.assign(configs, { of }) };
    };
    const viewed = (await identifyViewer(replacedMeanwhile('a', 'c', 'b'), caller, viewer))!;
    assert.deepEqual([...viewed.effective!.dataSources.keys()], []);
    const body = { integration: 'tool', viewer: null, narrow: null, resource: '{"dashboard":7}' as JsonText };
    const minting = mintEmbedToken(replacedMeanwhile('c', 'd', 'a'), await currentCaller(), {
      ...body,
      group: { token: viewer },
    });
    await assert.rejects(minting, { code: 'claim_invalid' });
    const shown = await viewAs(replacedMeanwhile('d', 'e', 'c'), await currentCaller(), 'd');
    assert.deepEqual([...shown.effective!.dataSources.keys()], []);
    const test = mintTestToken(replacedMeanwhile('e', 'f', 'd'), await currentCaller(), {
      ...body,
      userGroupId: 'e',
    });
    await assert.rejects(test, { code: 'claim_missing' });
  });

  it('by a rename does not lead the group that had its new id to its data source on a page', async (t) => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/of-b', { ...SOURCE, user_group_id: 'b' });
    await createGroup('a', { 40: 'of-b' });
    await createGroup('b');
    const browser = await ConsoleBrowser.signIn(service, token);
    const rename = async (from: string, to: string) => {
      const { status, text } = await call('POST', `user-groups/${from}/rename`, { user_group_id: to });
      assert.equal(status, 200, text);
    };
    const { configs } = service.app.context;
    const of = configs.of.bind(configs);
    /** Calls for a page between whose reads the id of group `from` is given to the owner of the data source. */
    const replacedMeanwhile = async (load: (path: string) => Promise<TestResponse>, names: string[]) => {
      const [from, to, owner] = names as [string, string, string];
      let isReplaced = false;
      const mocked = t.mock.method(configs, 'of', async (store: Context['store'], reader: Caller) => {
        if (isReplaced) return of(store, reader);
        isReplaced = true;
        await rename(from, to);
        await rename(owner, from);
        return of(store, { ...reader, configVersion: null });
      });
      const page = await load(`/console/user-groups/${from}`);
      mocked.mock.restore();
      return page;
    };
    const get = (path: string) => browser.get(path);
    // The page is about the group that has the id now, which has no mapping.
    const shown = await replacedMeanwhile(get, ['a', 'c', 'b']);
    assert.equal(shown.status, 200, shown.text);
    assert.doesNotMatch(shown.text, /of-b/);
    const all = await replacedMeanwhile((path) => browser.get(`${path}/data-sources`), ['c', 'd', 'a']);
    assert.equal(all.status, 200, all.text);
    assert.doesNotMatch(all.text, /of-b/);
    const csrf = csrfOf(await browser.get('/console/user-groups/d'));
    const withToken = await replacedMeanwhile(
      (path) => browser.post(`${path}/token`, { csrf }),
      ['d', 'e', 'c'],
    );
    assert.equal(withToken.status, 200, withToken.text);
    const { json } = await call('GET', 'user-groups/d');
    assert.ok(withToken.text.includes(json.user_group.token));
    assert.doesNotMatch(withToken.text, /of-b/);
  });

  it('is seen by a user group that is updated all the time', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/a', SOURCE);
    const viewer = new PresentedToken(await createGroup('g', { 40: 'a' }));
    const { context } = service.app;
    let updates = 0;
    const of = async (...args: Parameters<EnvironmentConfigs['of']>) => {
      const config = await context.configs.of(...args);
      await call('PATCH', 'user-groups/g', { name: `update ${updates++}` });
      return config;
    };
    const busy = { ...context, configs: Object.assign(new EnvironmentConfigs(), { of }) };
    const { effective } = (await identifyViewer(busy, await currentCaller(), viewer))!;
    assert.deepEqual([...effective!.dataSources.keys()], ['40']);
    assert.equal(updates, 2);
  });

  it('holds for a request that another process has answered with a later user group', async () => {
    await call('PUT', 'schemas/40', { name: 'S' });
    await call('PUT', 'data-sources/a', { ...SOURCE, user_group_id: 'old' });
    const claims = { id: { field: 'team_id' }, source: { mapping: '40' } };
    await call('PUT', 'integrations/tool', { ...integrations.metabase, claims });
    await createGroup('old', { 40: 'a' });
    const caller = await currentCaller();
    // The configurations of a process that has seen no later request.
    const context = { ...service.app.context, configs: new EnvironmentConfigs() };
    await context.configs.of(context.store, caller);
    await call('POST', 'user-groups/old/rename', { user_group_id: 'new' });
    const viewer = new PresentedToken(await createGroup('old', { 40: 'a' }));
    const { effective } = (await identifyViewer(context, caller, viewer))!;
    assert.deepEqual([...effective!.dataSources.keys()], []);
    const body = { integration: 'tool', viewer: null, narrow: null, resource: '{"dashboard":7}' as JsonText };
    for (const group of [{ userGroupId: 'old' }, { token: viewer }])
      await assert.rejects(mintEmbedToken(context, caller, { ...body, group }), { code: 'claim_invalid' });
    const viewed = await viewAs(context, caller, 'old');
    assert.deepEqual([...viewed.effective!.dataSources.keys()], []);
    const test = mintTestToken(context, caller, { ...body, userGroupId: 'old' });
    await assert.rejects(test, { code: 'claim_invalid' });
  });
});
