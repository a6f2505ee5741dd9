// Contract: a data source, schema or default that user groups use is deleted only with force=true: otherwise
// 409 in_use says how many use it, up to a bound.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { JsonText } from '../../src/domain/json/strict-json.ts';
import { ConsoleBrowser } from '../support/console.ts';
import { textOf } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem } from '../support/problem.ts';
import { eventually, served } from '../support/process.ts';
import { TestService } from '../support/service.ts';
import { storeUserGroups } from '../support/user-group/stored-user-group.ts';

describeOnEachDatabase('a part of the catalogue that user groups use', (database) => {
  const service = TestService.of(database);
  let token: string;

  function call(method: string, path: string, body?: object, headers = {}): Promise<TestResponse> {
    return service.call(method, `/v1/${path}`, body, { token, headers });
  }

  function refuses(response: TestResponse, detail: RegExp): void {
    assertProblem(response, 'in_use');
    assert.equal(response.status, 409);
    assert.match(response.json.detail, detail);
  }

  /** Creates a workspace with the schema 40, two data sources in it, and groups with these mappings. */
  async function workspaceWith(
    mappings: readonly (object | null)[],
    schema: object = { name: 'Orders' },
  ): Promise<void> {
    const workspaceName = `used ${Math.random()}`;
    ({ token } = await service.apiToken({ workspaceName, permission: 'admin' }));
    const put = (path: string, body: object) => served(() => call('PUT', path, body));
    for (const id of ['eu', 'us'])
      await put(`data-sources/${id}`, { schema_id: '40', name: id, attributes: {} });
    await put('schemas/40', schema);
    const groups = mappings.map((mapping, index) => [
      `group-${index}`,
      { mapping: mapping && (JSON.stringify(mapping) as JsonText) },
    ]);
    await storeUserGroups(service.app.context.store, workspaceName, Object.fromEntries(groups));
  }

  it('can be a data source, in a mapping or as a default, which force deletes anyway', async () => {
    await workspaceWith([{ 40: 'eu' }, { 41: 'x' }, null], { name: 'Orders', default_data_source: 'us' });
    refuses(
      await call('DELETE', 'data-sources/eu'),
      /^1 user group uses this data source\. Nothing was changed/,
    );
    refuses(await call('DELETE', 'data-sources/us?force=false'), /^2 user groups use this data source/);
    assert.equal((await call('GET', 'data-sources/us')).status, 200);
    assert.equal((await call('DELETE', 'data-sources/us?force=true')).status, 204);
    assertProblem(await call('DELETE', 'data-sources/us'), 'not_found');
  });

  it('can be a schema, with an entry in a mapping or with its default', async () => {
    await workspaceWith([{ 40: 'gone' }, null]);
    refuses(await call('DELETE', 'schemas/40'), /^1 user group uses this schema/);
    await call('PUT', 'schemas/40', { name: 'Orders', default_data_source: 'eu' });
    refuses(await call('DELETE', 'schemas/40'), /^2 user groups use this schema/);
    assert.equal((await call('DELETE', 'schemas/40?force=true')).status, 204);
  });

  it('can be a default, which a PUT without it removes', async () => {
    await workspaceWith([{ 40: 'eu' }, null], { name: 'Orders', default_data_source: 'us' });
    refuses(
      await call('PUT', 'schemas/40', { name: 'Renamed' }),
      /^1 user group uses the default of this schema/,
    );
    assert.equal((await call('GET', 'schemas/40')).json.schema.name, 'Orders');
    const changed = { name: 'Renamed', default_data_source: 'eu' };
    assert.equal((await call('PUT', 'schemas/40', changed)).status, 200);
    assert.equal((await call('PUT', 'schemas/40?force=true', { name: 'Renamed' })).status, 200);
    assert.equal((await call('PUT', 'schemas/40', { name: 'Again' })).status, 200, 'there is no default now');
  });

  it('is deleted without force if no user group uses it, and not at another version', async () => {
    await workspaceWith([{ 40: 'eu' }]);
    const other = await call('DELETE', 'data-sources/eu', undefined, { 'if-match': '"other"' });
    assertProblem(other, 'version_mismatch');
    assert.equal((await call('DELETE', 'data-sources/us')).status, 204);
  });

  it('is not changed at another version, even with force', async () => {
    await workspaceWith([null], { name: 'Orders', default_data_source: 'us' });
    const stale = { 'if-match': '"other"' };
    for (const force of ['', '?force=true']) {
      const withoutDefault = await call('PUT', `schemas/40${force}`, { name: 'Orders' }, stale);
      assertProblem(withoutDefault, 'version_mismatch');
      assertProblem(await call('DELETE', `schemas/40${force}`, undefined, stale), 'version_mismatch');
    }
    assert.equal((await call('GET', 'schemas/40')).json.schema.default_data_source, 'us');
  });

  it('is counted up to 5,000 user groups', async () => {
    await workspaceWith(Array.from({ length: 5_001 }, () => ({ 40: 'eu' })));
    // On a busy machine, the time for counting may end before the bound is reached.
    await eventually('a complete count', async () => {
      const response = await call('DELETE', 'data-sources/eu');
      refuses(response, /^(?:More than|At least) [\d,]+ user groups use this data source/);
      return response.json.detail.startsWith('More than 5,000 ');
    });
  });

  it('asks in the console with the number, and is deleted once that is confirmed', async () => {
    await workspaceWith([{ 40: 'eu' }, { 40: 'eu' }]);
    const browser = await ConsoleBrowser.signIn(service, token);
    const path = '/console/catalogue/data-sources/eu/delete';
    assert.match(textOf(await browser.get(path)), /2 user groups use it\./);
    const refused = await browser.submit(path, path);
    assert.equal(refused.status, 409);
    assert.match(textOf(refused), /2 user groups use this data source, so nothing was changed/);
    assert.equal((await browser.submit(path, path, { force: 'on' })).status, 303);
    assertProblem(await call('GET', 'data-sources/eu'), 'not_found');
    const edit = '/console/catalogue/schemas/40/edit';
    await call('PUT', 'schemas/40', { name: 'Orders', default_data_source: 'us' });
    const unmapped = { user_group_id: 'unmapped', name: 'Unmapped' };
    await service.call('POST', '/v1/user-groups', unmapped, { token });
    const asked = await browser.submit(edit, edit, { default_data_source: '' });
    assert.match(textOf(asked), /1 user group uses the default of this schema, so nothing was changed/);
    assert.equal((await browser.submitFrom(asked, edit, { force: 'on' })).status, 303);
  });
});
