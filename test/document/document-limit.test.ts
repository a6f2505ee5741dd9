// Contract: the total size of the documents of an environment is bounded, and so is that of a resolution or a
// page.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dataSourceDefinition } from '../../src/domain/catalogue/catalogue.ts';
import { type Document, type DocumentKind, documentBytes } from '../../src/domain/document.ts';
import { limits } from '../../src/domain/field.ts';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { digestOfApiToken } from '../../src/domain/token.ts';
import { EnvironmentConfigs } from '../../src/operations/document/environment-config.ts';
import { ensureWorkspace } from '../../src/operations/workspace/workspace.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { severalTenants } from '../support/tenant-activity.ts';

const LARGE = 'x'.repeat(16_000);
const COPIED = 20;
const MAX_BYTES = dataSourceDefinition.limit.bytes;

describeOnEachDatabase('The documents of an environment', (database) => {
  const service = TestService.of(database);

  /** Creates a caller in a new workspace. */
  async function tenant(workspaceName: string) {
    const { token } = await service.apiToken({ permission: 'admin', workspaceName });
    const { store } = service.app.context;
    const { workspaceId } = (await ensureWorkspace(store, workspaceName, 0)).workspace;
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token });
    return {
      call,
      token,
      putSource: (id: string, text: string, schemaId = '40') =>
        call('PUT', `/v1/data-sources/${id}`, { schema_id: schemaId, name: id, attributes: { text } }),
      putSchema: (id: string, source: string | number | null = null) =>
        call('PUT', `/v1/schemas/${id}?force=true`, { name: id, default_data_source: source }),
      /**
       * Stores documents without checking limits, as `copy` does for an environment of an earlier version.
       */
      async store(kind: DocumentKind, bodies: Record<string, object>): Promise<Document[]> {
        const documents = Object.entries(bodies).map(([id, body]) => ({
          workspaceId,
          environment: 'Customer' as const,
          kind,
          id,
          version: 1,
          body: JSON.stringify(body) as JsonText,
          secret: null,
          createdAt: 0,
          updatedAt: 0,
        }));
        // Keeps transactions short on a busy machine.
        for (let start = 0; start < documents.length; start += COPIED)
          await store.write({ kind: 'copyDocuments', documents: documents.slice(start, start + COPIED) });
        return documents;
      },
      async groupToken(mapping: object | null): Promise<string> {
        const { json } = await call('POST', '/v1/user-groups', { user_group_id: 'a', name: 'A', mapping });
        return json.user_group.token;
      },
    };
  }

  function sources(count: number, schemaOf: (index: number) => string = () => '40', text = LARGE) {
    const bodies = Array.from({ length: count }, (_, index) => [
      `source-${index}`,
      { data_source_id: index + 1, schema_id: schemaOf(index), name: 'S', attributes: { text } },
    ]);
    return Object.fromEntries(bodies) as Record<string, object>;
  }

  it('have at most 4 MiB per kind, whatever the order in which they arrive', async () => {
    const { store, putSource, call } = await tenant('full');
    const stored = await store('data_source', sources(250));
    const left = MAX_BYTES - stored.reduce((sum, document) => sum + documentBytes(document), 0);
    const fitting = Math.floor(left / LARGE.length);
    const ids = Array.from({ length: fitting + 4 }, (_, index) => `new-${index}`);
    const puts = ids.map((id) => served(() => putSource(id, LARGE.slice(0, -200))));
    const responses = await Promise.all(puts);
    const accepted = responses.filter(({ status }) => status === 201);
    assert.equal(accepted.length, fitting);
    const refused = responses.find(({ status }) => status !== 201)!;
    assertProblem(refused, 'limit_reached');
    assert.match(refused.json.detail, /data sources .* at most 4194304 bytes/);
    await call('DELETE', '/v1/data-sources/source-0');
    assert.equal((await putSource('after-deletion', LARGE.slice(0, -200))).status, 201);
  });

  it('are read and made smaller even if they exceed the limit, as those of an earlier version may', async () => {
    const { store, putSource, groupToken, call, token } = await tenant('larger');
    await store('data_source', sources(300));
    const resolved = await service.resolve(await groupToken({ 40: 'source-7' }), { token });
    assert.equal(resolved.json.data_sources[40].attributes.text, LARGE);
    assertProblem(await putSource('source-1', `${LARGE}x`), 'limit_reached');
    assertProblem(await putSource('one-more', ''), 'limit_reached');
    assert.equal((await putSource('source-1', LARGE.slice(0, -100))).status, 200);
    assert.equal((await call('DELETE', '/v1/data-sources/source-2')).status, 204);
  });

  it('are not made larger by a longer id of the user group that they are reserved for', async () => {
    const { store, groupToken, call } = await tenant('renamed');
    const reserved = { ...sources(1)['source-0'], user_group_id: 'a' };
    await store('data_source', { ...sources(270), reserved });
    await groupToken(null);
    const rename = (user_group_id: string) => call('POST', '/v1/user-groups/a/rename', { user_group_id });
    for (const id of ['longer', 'é']) assertProblem(await rename(id), 'limit_reached');
    assert.equal((await call('GET', '/v1/user-groups/a')).status, 200);
    assert.equal((await rename('b')).status, 200);
  });

  it('are listed in pages of about 256 KiB', async () => {
    const { store, call } = await tenant('pages');
    await store('data_source', sources(200));
    const ids: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { json, text } = await call('GET', `/v1/data-sources?limit=1000${query}`);
      assert.ok(text.length < limits.pageBytes + 2 * LARGE.length, String(text.length));
      ids.push(...json.data_sources.map((each: { provided_id: string }) => each.provided_id));
      cursor = json.next_cursor;
    }
    assert.deepEqual(ids, Object.keys(sources(200)).toSorted());
    assert.equal(pages, 12);
  });

  it('are listed to the end if the last ones are deleted between two pages', async () => {
    const { call, putSchema } = await tenant('shortened');
    for (const id of ['1', '2']) await putSchema(id);
    const first = await call('GET', '/v1/schemas?limit=1');
    assert.equal((await call('DELETE', '/v1/schemas/2')).status, 204);
    const second = await call('GET', `/v1/schemas?cursor=${first.json.next_cursor}`);
    assert.deepEqual([second.json.schemas, second.json.next_cursor], [[], null]);
  });

  it('never resolve to more than 256 KiB', async () => {
    const { store, groupToken, putSource, call, token } = await tenant('resolving');
    await store('data_source', sources(20, String));
    const mapping = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [index, `source-${index}`]));
    const groupTokenText = await groupToken(mapping(16));
    const resolve = () => service.resolve(groupTokenText, { token });
    assert.equal(Object.keys((await resolve()).json.data_sources).length, 16);
    await call('PATCH', '/v1/user-groups/a', { mapping: mapping(17) });
    const refused = await resolve();
    assertProblem(refused, 'limit_reached');
    assert.match(
      refused.json.detail,
      /data sources of this user group have 27\d{4} bytes; .* at most 262144/,
    );
    const introspected = await service.introspect(groupTokenText, { token });
    assert.deepEqual([introspected.status, introspected.json.code], [409, 'limit_reached']);
    const forwarded = await service.forwardAuth({ 'x-user-group-token': groupTokenText }, token);
    assert.equal(forwarded.status, 200, 'forward authentication contains only ids');
    await putSource('source-16', '', '16');
    assert.equal((await resolve()).status, 200);
    await service.writeUsage();
    const [used] = (await call('GET', '/v1/usage?user_group_id=a')).json.usage;
    const counts = [used.resolves, used.introspections, used.forward_authentications];
    assert.deepEqual(counts, [2, 0, 1], 'refusals are not counted');
  });

  it('are refused if the defaults alone would exceed what a resolution contains', async () => {
    const { putSchema, putSource } = await tenant('defaults');
    for (let index = 0; index < 17; index++) await putSource(`${index}`, LARGE, `${index}`);
    for (let index = 0; index < 16; index++)
      assert.equal((await putSchema(`${index}`, `${index}`)).status, 201);
    const refused = await putSchema('16', '16');
    assertProblem(refused, 'limit_reached');
    assert.match(refused.json.detail, /default data sources of all schemas have \d+ bytes/);
    assert.equal((await putSchema('16')).status, 201);
    await putSource('16', 'small', '16');
    assert.equal((await putSchema('16', '16')).status, 200);
    const { json } = await putSource('16', 'still small', '16');
    assertProblem(await putSource('16', LARGE, '16'), 'limit_reached');
    await putSchema('16', json.data_source.data_source_id);
    assertProblem(await putSource('16', LARGE, '16'), 'limit_reached');
    assert.equal((await putSource('unused', LARGE, '16')).status, 201);
  });

  it('can be made smaller if the defaults of an earlier version exceed it', async () => {
    const { store, putSchema, putSource, groupToken, token } = await tenant('large-defaults');
    await store('data_source', sources(20, String));
    const schemas = Array.from({ length: 20 }, (_, index) => [
      String(index),
      { name: 'S', default_data_source: `source-${index}` },
    ]);
    await store('schema', Object.fromEntries(schemas));
    assertProblem(await service.resolve(await groupToken(null), { token }), 'limit_reached');
    assert.equal((await putSource('source-0', 'small', '0')).status, 200);
    for (const id of ['1', '2', '3', '4']) assert.equal((await putSchema(id)).status, 200);
    assert.equal((await service.resolve(await groupToken(null), { token })).status, 200);
  });

  it('are read once by requests that need the same version', async () => {
    const { store, token } = await tenant('shared');
    await store('data_source', sources(5));
    const context = service.app.context;
    const caller = (await context.store.read({ kind: 'findApiToken', digest: digestOfApiToken(token)! }))!;
    const configs = new EnvironmentConfigs();
    const all = await Promise.all(Array.from({ length: 50 }, () => configs.of(context.store, caller)));
    assert.equal(new Set(all).size, 1);
    assert.equal(all[0], await configs.of(context.store, caller));
  });

  it('are read again for a request that a query in flight may be too old for', async () => {
    const { store, token } = await tenant('in flight');
    await store('data_source', sources(5));
    const context = service.app.context;
    const caller = (await context.store.read({ kind: 'findApiToken', digest: digestOfApiToken(token)! }))!;
    const configs = new EnvironmentConfigs();
    const ofVersion = (configVersion: number | null) =>
      configs.of(context.store, { ...caller, configVersion });
    // A caller without a version needs the current one.
    for (const version of [caller.configVersion! + 1, null]) {
      const inFlight = ofVersion(version);
      await nextTurn();
      assert.notEqual(await ofVersion(version === null ? null : version + 1), await inFlight);
    }
  });

  it('are read again only after a rest while several tenants are active, once for all versions until then', async () => {
    const { store, token } = await tenant('changing');
    await store('data_source', sources(200));
    const context = service.app.context;
    const caller = (await context.store.read({ kind: 'findApiToken', digest: digestOfApiToken(token)! }))!;
    const configs = new EnvironmentConfigs(severalTenants());
    const ofVersion = (version: number) => configs.of(context.store, { ...caller, configVersion: version });
    const first = await ofVersion(1_001);
    const [second, third] = await Promise.all([ofVersion(1_002), ofVersion(1_003)]);
    assert.ok(second.readAt - first.readAt >= 75, `${second.readAt - first.readAt} ms`);
    assert.equal(second, third);
  });
});
