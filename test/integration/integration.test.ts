// Contract: integrations are documents under /v1/integrations; what they could leak is refused when they are
// stored.

import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { EnvironmentConfig } from '../../src/operations/document/environment-config.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations, SECRET } from '../support/embed-token/site.ts';
import { decodeAs } from '../support/embed-token/tool.ts';
import { assertProblem, pointersOf } from '../support/problem.ts';
import { executeSql } from '../support/sql.ts';

const { jwt, metabase, superset, lightdash } = integrations;

/** Returns the integration with some settings and members replaced. */
function changed(integration: object, settings: object = {}, more: object = {}): object {
  const base = integration as { settings: object };
  return { ...base, ...more, settings: { ...base.settings, ...settings } };
}

const rule = superset.settings.row_level_security[0];
const rls = (more: object) => changed(superset, { row_level_security: [{ ...rule, ...more }] });

/** Invalid integrations, each with the pointer to its fault. */
const invalid: [integration: unknown, pointer: string, detail?: RegExp][] = [
  [{}, '/type'],
  [{ ...jwt, type: 'tableau' }, '/type', /jwt, metabase, superset/],
  [{ ...jwt, ttl_seconds: 59 }, '/ttl_seconds', /at least 60/],
  [{ ...jwt, ttl_seconds: 3601 }, '/ttl_seconds', /at most 3600/],
  [{ ...jwt, ttl_seconds: 60.5 }, '/ttl_seconds'],
  [{ ...jwt, unrestricted: 'yes' }, '/unrestricted'],
  [{ ...jwt, secret: SECRET }, '/secret', /must be absent/],
  [{ type: 'jwt' }, '/settings/audience', /is required/],
  [changed(jwt, { audience: [] }), '/settings/audience'],
  [changed(jwt, { audience: ['a', 7] }), '/settings/audience/1'],
  [changed(jwt, { algorithm: 'EdDSA' }), '/settings/algorithm', /ES256, RS256 or HS256|ES256, RS256, HS256/],
  [changed(jwt, { algorithm: 'none' }), '/settings/algorithm'],
  [changed(jwt, { issuer: 'https://evil.example' }), '/settings/issuer', /not a known member/],
  [changed(jwt, { properties: 'region' }), '/settings/properties'],
  ...[
    ...['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'viewer', 'user_group'],
    // Verifiers in Go ignore the case of names, and read the last of several.
    ...['Exp', 'AUD', '\u017fub', 'User_Group'],
  ].map((name): [unknown, string, RegExp] => [
    changed(jwt, {}, { claims: { [name]: { constant: 'x' } } }),
    `/claims/${name}`,
    /the service determines/,
  ]),
  [changed(jwt, {}, { claims: { a: 'text' } }), '/claims/a', /an object/],
  [changed(jwt, {}, { claims: { a: {} } }), '/claims/a'],
  [changed(jwt, {}, { claims: { a: { property: 'region', mapping: '40' } } }), '/claims/a'],
  [
    changed(jwt, {}, { claims: { a: { property: 'private' } } }),
    '/claims/a/property',
    /settings\.properties/,
  ],
  [changed(jwt, {}, { claims: { a: { property: '' } } }), '/claims/a/property'],
  [changed(jwt, {}, { claims: { a: { mapping: 40 } } }), '/claims/a/mapping', /double quotes/],
  [changed(jwt, {}, { claims: { a: { field: 'token' } } }), '/claims/a/field', /provided_id, name/],
  [changed(jwt, {}, { claims: { a: { field: 'sealed_token' } } }), '/claims/a/field'],
  [changed(jwt, {}, { claims: { a: { user_group_id: 'other', property: 'region' } } }), '/claims/a'],
  [changed(jwt, {}, { claims: { a: { sql: 'select 1' } } }), '/claims/a/sql', /not a known member/],
  ...[null, '', [], {}, [null]].map((constant): [unknown, string, RegExp] => [
    changed(jwt, {}, { claims: { a: { constant } } }),
    '/claims/a/constant',
    /null or empty/,
  ]),
  [{ ...metabase, secret: undefined }, '/secret', /is required/],
  [{ ...metabase, secret: 'short' }, '/secret'],
  [{ ...metabase, secret: `${SECRET} ` }, '/secret', /visible ASCII/],
  [changed(metabase, { url: 'javascript:alert(1)' }), '/settings/url', /http or https URL/],
  [changed(metabase, { url: 'https://m.example/#a' }), '/settings/url'],
  [changed(metabase, { resources: [] }), '/settings/resources'],
  [changed(metabase, { resources: [{ dashboard: 1, question: 2 }] }), '/settings/resources/0'],
  [changed(metabase, { resources: [{ card: 1 }] }), '/settings/resources/0/card'],
  [{ ...metabase, claims: {} }, '/unrestricted', /every user group sees the same data/],
  [{ ...metabase, claims: { tier: { constant: 1 } } }, '/unrestricted'],
  [changed(superset, { audience: undefined }), '/settings/audience'],
  [changed(superset, { row_level_security: undefined }), '/unrestricted'],
  [changed(superset, { row_level_security: [{ ...rule, value: { constant: 'a' } }] }), '/unrestricted'],
  [
    { ...changed(superset, { row_level_security: undefined }), claims: { a: { field: 'name' } } },
    '/unrestricted',
    /row_level_security/,
  ],
  [rls({ dataset: undefined }), '/settings/row_level_security/0', /"all_datasets": true/],
  [rls({ all_datasets: true }), '/settings/row_level_security/0'],
  [rls({ dataset: undefined, all_datasets: false }), '/settings/row_level_security/0/all_datasets'],
  [rls({ clause: '1 = 1' }), '/settings/row_level_security/0/clause', /not a known member/],
  [rls({ value: undefined }), '/settings/row_level_security/0/value'],
  [rls({ value: { property: 'private' } }), '/settings/row_level_security/0/value/property'],
  [rls({ column: "a' or 1 = 1 --" }), '/settings/row_level_security/0/column'],
  [rls({ column: 'a b' }), '/settings/row_level_security/0/column'],
  [rls({ column: '"a"' }), '/settings/row_level_security/0/column'],
  [rls({ column: 'User' }), '/settings/row_level_security/0/column', /reserved word/],
  [rls({ column: 't.true' }), '/settings/row_level_security/0/column', /reserved word/],
  [changed(superset, { string_escapes: 'none' }), '/settings/string_escapes'],
  [changed(superset, { resources: [{ type: 'chart', id: 'x' }] }), '/settings/resources/0/type'],
  [{ ...lightdash, claims: {} }, '/unrestricted'],
  [changed(lightdash, { options: { canDelete: true } }), '/settings/options/canDelete'],
];

describeOnEachDatabase('/v1/integrations', (database) => {
  const site = EmbedSite.of(database);
  before(async () => {
    await site.createGroup();
  });

  const read = (id: string) => site.asAdmin('GET', `/v1/integrations/${id}`);
  it('stores an integration of each type, and returns it with its defaults and without its secret', async () => {
    for (const [id, integration] of Object.entries(integrations)) {
      const created = await site.put(id, integration);
      assert.equal(created.status, 201, created.text);
      const { secret: _, ...fields } = { claims: {}, ...integration } as { secret?: string };
      const { version, created_at, updated_at, ...stored } = created.json.integration;
      assert.deepEqual(stored, { integration_id: id, ttl_seconds: 300, unrestricted: false, ...fields });
      assert.deepEqual([version, created_at], [1, updated_at]);
      assert.deepEqual((await read(id)).json.integration, created.json.integration);
      assert.equal(created.text.includes(SECRET), false);
    }
    const { json, text } = await site.asAdmin('GET', '/v1/integrations');
    const ids = json.integrations.map(({ integration_id }: { integration_id: string }) => integration_id);
    assert.deepEqual(ids, Object.keys(integrations).sort());
    assert.equal(text.includes(SECRET), false);
  });

  it('keeps the digits of constants', async () => {
    const claims = '{"a":{"constant":1.10},"b":{"constant":[9007199254740993]}}';
    const settings = '{"audience":"a","large_numbers":"number"}';
    await site.put('digits', `{"type":"jwt","settings":${settings},"claims":${claims}}`);
    assert.ok((await read('digits')).text.includes(claims));
    const payload = Buffer.from((await site.token('digits')).split('.')[1]!, 'base64url').toString();
    assert.ok(payload.includes('"a":1.10,"b":[9007199254740993]'), payload);
  });

  it('refuses an invalid integration with a pointer to what is wrong, and stores nothing', async () => {
    for (const [integration, pointer, detail = /./] of invalid) {
      const response = await site.put('invalid', integration);
      assertProblem(response, 'invalid_request');
      assert.ok(pointersOf(response).includes(pointer), `${JSON.stringify(integration)}\n${response.text}`);
      const { detail: found } = response.json.errors.find(
        (each: { pointer: string }) => each.pointer === pointer,
      );
      assert.match(found, detail);
    }
    assertProblem(await read('invalid'), 'not_found');
    assertProblem(await site.put('invalid', { ...jwt, sercet: SECRET }), 'unknown_field');
  });

  it('reports all faults of one integration', async () => {
    const claims = { exp: { constant: null }, a: { property: 'private' } };
    const response = await site.put('invalid', changed(jwt, {}, { claims }));
    assert.deepEqual(pointersOf(response), ['/claims/exp', '/claims/exp/constant', '/claims/a/property']);
  });

  it('mints tokens without a restriction only if the integration says so', async () => {
    const open = { ...metabase, claims: {}, unrestricted: true };
    assert.equal((await site.put('open', open)).status, 201);
    const token = await site.token('open', { resource: { dashboard: 7 } });
    assert.deepEqual(decodeAs.metabase(token, SECRET).params, {});
    const settings = { ...superset.settings, row_level_security: [] };
    assert.equal((await site.put('open', { ...superset, settings, unrestricted: true })).status, 200);
    assert.deepEqual(decodeAs.superset(await site.token('open'), SECRET).rls_rules, []);
    assert.equal((await site.put('open', { ...jwt, claims: {} })).status, 200);
  });

  it('keeps the secret of an integration that is replaced without one, and replaces one that is sent', async () => {
    const { secret: _, ...without } = lightdash;
    await site.put('kept', lightdash);
    assert.equal((await site.put('kept', { ...without, ttl_seconds: 600 })).status, 200);
    assert.ok(decodeAs.lightdash(await site.token('kept'), SECRET));
    // A sync that sends the same secret every night changes nothing.
    assert.equal((await site.put('kept', { ...lightdash, ttl_seconds: 600 })).json.integration.version, 2);
    const other = `another-${SECRET}`;
    assert.equal((await site.put('kept', { ...lightdash, secret: other })).status, 200);
    assert.ok(decodeAs.lightdash(await site.token('kept'), other));
  });

  it('replaces a secret that cannot be decrypted with the one that is sent', async () => {
    const config = { version: 1, integrations: { damaged: lightdash } };
    await site.put('damaged', lightdash);
    for (const [attempt, send] of [
      () => site.put('damaged', lightdash),
      () => site.asAdmin('PUT', '/v1/config', config),
    ].entries()) {
      const where = `where document_id = 'damaged'`;
      await executeSql(site.service.database, `update documents set secret_key_id = '00000000' ${where}`);
      // The service reads the row again after any change of the configuration.
      await site.put('other', { ...lightdash, ttl_seconds: 600 + attempt });
      const replaced = await send();
      assert.equal(replaced.status, 200, replaced.text);
      assert.ok(decodeAs.lightdash(await site.token('damaged'), SECRET));
    }
  });

  it('does not use the secret of one tool for another', async () => {
    const { secret: _, ...without } = lightdash;
    await site.put('moved', metabase);
    assertProblem(await site.put('moved', without), 'invalid_request');
    await site.put('moved', jwt);
    const keys = createLocalJWKSet((await site.keySet()).json);
    assert.ok(await jwtVerify(await site.token('moved'), keys));
    const { secret, ...metabaseWithout } = metabase;
    assertProblem(await site.put('moved', metabaseWithout), 'invalid_request');
    assert.equal(secret, SECRET);
  });

  it('honours If-Match and If-None-Match', async () => {
    const created = await site.put('versions', jwt, { 'if-none-match': '*' });
    assert.equal(created.status, 201);
    assertProblem(await site.put('versions', jwt, { 'if-none-match': '*' }), 'version_mismatch');
    const again = await site.put(
      'versions',
      { ...jwt, ttl_seconds: 90 },
      { 'if-match': created.headers.etag! },
    );
    assert.equal(again.json.integration.version, 2);
    assertProblem(await site.put('versions', jwt, { 'if-match': created.headers.etag! }), 'version_mismatch');
  });

  it('deletes an integration', async () => {
    await site.put('gone', metabase);
    const path = '/v1/integrations/gone';
    assert.equal((await site.asAdmin('DELETE', path)).status, 204);
    assertProblem(await read('gone'), 'not_found');
    assertProblem(await site.asAdmin('DELETE', path), 'not_found');
    const { secret: _, ...without } = metabase;
    assertProblem(await site.put('gone', without), 'invalid_request');
  });

  it('records events without secrets, and encrypts the secret at rest', async () => {
    await site.put('recorded', metabase);
    await site.put('recorded', { ...metabase, ttl_seconds: 90 });
    await site.asAdmin('DELETE', '/v1/integrations/recorded');
    const { store, keyRing } = site.service.app.context;
    const tenant = { workspaceId: 1, environment: 'Customer' } as const;
    const events = await site.service.eventsAbout({ type: 'integration', id: 'recorded' });
    const types = events.map(({ type }) => type);
    assert.deepEqual(types, ['integration.created', 'integration.updated', 'integration.deleted']);
    const { documents } = await EnvironmentConfig.read(store, tenant);
    assert.equal(JSON.stringify([events, documents]).includes(SECRET), false);
    const document = documents.find(({ id }) => id === 'metabase')!;
    assert.equal(keyRing.open(document.secret!, document).reveal(), SECRET);
  });
});
