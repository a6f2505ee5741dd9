// Integrations and signing keys in the console.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { jwtVerify } from 'jose';
import { fieldsOf, newWorkspace } from '../support/console.ts';
import { errorOf, openForm, textOf, unescaped } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations, SECRET } from '../support/embed-token/site.ts';
import { elementsOf } from '../support/html.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

const LIST = '/console/integrations';
const GROUPS = '/console/user-groups';
const NEW = `${LIST}/-/new`;
const KEYS = `${LIST}/-/signing-keys`;
const ROTATE = `${KEYS}/rotate`;
const OTHER_SECRET = 'another-secret-of-the-tool-9876543210';

const metabase = {
  ...integrations.metabase,
  settings: { ...integrations.metabase.settings, resources: [{ dashboard: 7 }] },
};

function assertNoSecret({ text }: TestResponse): void {
  for (const secret of [SECRET, OTHER_SECRET]) assert.ok(!unescaped(text).includes(secret));
}

describeOnEachDatabase('Integrations in the console', (database) => {
  const service = TestService.of(database, { env: { UGS_PUBLIC_URL: 'http://groups.test' } });

  async function newSite() {
    const workspace = await newWorkspace(service);
    const mint = async (integration: string) => {
      await workspace.call('POST', '/v1/user-groups', {
        user_group_id: 'acme',
        name: 'Acme',
        mapping: { 40: 'acme' },
        properties: { region: 'EMEA' },
      });
      return workspace.call('POST', '/v1/embed-tokens', { integration, user_group_id: 'acme' });
    };
    return { ...workspace, mint };
  }

  it('is named without a link for people who may not open its page', async () => {
    const { call, reader, mint } = await newSite();
    await call('PUT', '/v1/integrations/metabase', { ...metabase, secret: SECRET });
    await mint('metabase');
    const browser = await reader('read-write');
    for (const page of ['acme', 'acme/view-as', 'acme/rotate', 'acme/edit'].map(
      (each) => `${GROUPS}/${each}`,
    )) {
      const { text } = await browser.get(page);
      for (const { name, attributes } of elementsOf(text)) {
        const href = name === 'a' ? attributes.href! : '#';
        if (!href.startsWith('#')) assert.notEqual((await browser.get(href)).status, 403, `${page}: ${href}`);
      }
    }
    assert.doesNotMatch((await browser.get('/console/events')).text, /href="\/console\/integrations/);
  });

  it('starts a new one of each type with an example that works', async () => {
    const { browser, mint } = await newSite();
    assert.match((await browser.get(LIST)).text, /href="\/console\/integrations\/-\/types"/);
    const types = await browser.get(`${LIST}/-/types`);
    for (const type of Object.keys(integrations)) {
      assert.match(unescaped(types.text), new RegExp(`href="${NEW}\\?type=${type}"`));
      const empty = fieldsOf((await browser.get(`${NEW}?type=${type}`)).text, NEW);
      assert.deepEqual([empty.settings, empty.claims], ['', ''], 'an example is no value');
      const created = await browser.submit(`${NEW}?type=${type}&example=1`, NEW, {
        id: type,
        ...(type !== 'jwt' && { secret: SECRET }),
      });
      assert.equal(created.status, 303, created.text);
      const minted = await mint(type);
      assert.equal(minted.status, 201, minted.text);
      const page = await browser.get(`${LIST}/${type}`);
      assertNoSecret(page);
      assert.match(textOf(page), type === 'jwt' ? /Secret none/ : /Secret stored, and never shown/);
    }
    assert.match(textOf(await browser.get(LIST)), /jwt jwt 300 seconds yes/);
  });

  it('changes an integration, and keeps its secret unless another one is typed', async () => {
    const { browser, call, mint } = await newSite();
    await call('PUT', '/v1/integrations/m', metabase);
    const before = await signatureKeyOf(await mint('m'), [SECRET, OTHER_SECRET]);
    assert.equal(before, SECRET);
    const edit = `${LIST}/m/edit`;
    const form = await browser.get(edit);
    assertNoSecret(form);
    assert.match(form.text, /name="secret" type="text" value=""/);
    // A number that was pasted may have spaces.
    assert.equal((await browser.submitFrom(form, edit, { ttl_seconds: ' 900 ' })).status, 303);
    const { json } = await call('GET', '/v1/integrations/m');
    assert.deepEqual([json.integration.ttl_seconds, json.integration.unrestricted], [900, false]);
    assert.deepEqual(json.integration.claims, metabase.claims);
    assert.equal(await signatureKeyOf(await mint('m'), [SECRET, OTHER_SECRET]), SECRET);
    assert.equal((await browser.submit(edit, edit, { secret: OTHER_SECRET })).status, 303);
    assert.equal(await signatureKeyOf(await mint('m'), [SECRET, OTHER_SECRET]), OTHER_SECRET);
  });

  it('has no field for the secret if the tokens are signed with a key of the service', async () => {
    const { browser, call } = await newSite();
    const { secret: _, ...superset } = integrations.superset;
    const settings = { ...superset.settings, algorithm: 'RS256' };
    const { status } = await call('PUT', '/v1/integrations/s', { ...superset, settings });
    assert.equal(status, 201);
    const edit = `${LIST}/s/edit`;
    const form = await browser.get(edit);
    assert.doesNotMatch(form.text, /name="secret"/);
    assert.equal((await browser.submitFrom(form, edit, { ttl_seconds: '900' })).status, 303);
    const shared = JSON.stringify({ ...settings, algorithm: 'HS256' });
    const refused = await browser.submit(edit, edit, { settings: shared });
    assert.match(refused.text, /name="secret"/);
    assert.match(textOf(refused), /16 to 512 visible ASCII characters/);
    assert.match(errorOf(refused, 'secret') ?? '', /is required/);
  });

  it('shows what a person typed and the errors of the API, but not the secret', async () => {
    const { browser } = await newSite();
    const valid = {
      id: 'm',
      ttl_seconds: '600',
      settings: '{"url": "http://m", "resources": [{"dashboard": 1}]}',
    };
    const claims = '{"customer": {"field": "provided_id"}}';
    const create = (fields: Record<string, string>) =>
      browser.submit(`${NEW}?type=metabase`, NEW, { ...valid, claims, secret: SECRET, ...fields });
    const cases: [fields: Record<string, string>, field: string, error: RegExp][] = [
      [{ id: 'm ' }, 'id', /white space/],
      [{ ttl_seconds: '59' }, 'ttl_seconds', /at least 60/],
      [{ ttl_seconds: 'soon' }, 'ttl_seconds', /must be an integer/],
      [{ ttl_seconds: '1e3' }, 'ttl_seconds', /must be an integer/],
      [{ settings: '{' }, 'settings', /^must[^;]*$/],
      [{ settings: valid.settings.slice(0, -1) }, 'settings', /^must have a comma[^;]*$/],
      [{ settings: '' }, 'settings', /\/url is required/],
      [{ settings: '{}, "unrestricted": true' }, 'settings', /must end after one JSON value/],
      [{ claims: '{"a": {"property": "x"}}' }, 'claims', /must be listed in settings\.properties/],
      [{ claims: '{}' }, 'unrestricted', /must be true/],
      [{ secret: '' }, 'secret', /is required/],
      [{ secret: 'short' }, 'secret', /must have at least 16 characters/],
      [{ secret: `${SECRET} ` }, 'secret', /visible ASCII/],
    ];
    for (const [fields, field, error] of cases) {
      const page = await create(fields);
      assert.equal(page.status, 400, JSON.stringify(fields));
      assert.match(errorOf(page, field) ?? '', error, JSON.stringify(fields));
      assertNoSecret(page);
      const { secret: _, ...shown }: Record<string, string> = { ...valid, claims, ...fields };
      const kept = fieldsOf(page.text, NEW);
      for (const [name, text] of Object.entries(shown)) assert.equal(kept[name], text);
      assert.deepEqual([kept.type, kept.secret], ['metabase', '']);
    }
    assert.equal((await browser.get(`${LIST}/m`)).status, 404);
    const unrestricted = await create({ claims: '{}', unrestricted: 'on' });
    assert.equal(unrestricted.status, 303);
    assert.match(textOf(await browser.get(`${LIST}/m`)), /Restricted no Every user group/);
  });

  it('shows the stored version if somebody changed it in between', async () => {
    const { browser, call } = await newSite();
    await call('PUT', '/v1/integrations/m', integrations.metabase);
    const edit = `${LIST}/m/edit`;
    const opened = await openForm(browser, edit);
    await call('PUT', '/v1/integrations/m', { ...integrations.metabase, ttl_seconds: 777 });
    const { secret: _, ...base } = JSON.parse(opened.base!);
    const page = await browser.post(edit, {
      ...opened,
      // A form of an earlier version, during a rolling upgrade.
      base: JSON.stringify(base),
      ttl_seconds: '60',
      settings: JSON.stringify(integrations.metabase.settings),
      claims: '{"a": {"field": "name"}}',
      secret: OTHER_SECRET,
    });
    assert.equal(page.status, 412);
    assert.match(textOf(page), /was changed after you opened the form.*Seconds that a token is valid 777 60/);
    assert.equal(fieldsOf(page.text, edit).claims, '{"a": {"field": "name"}}');
    assert.match(textOf(page), /Type it again/);
    assertNoSecret(page);
    assert.doesNotMatch(textOf(page), /Secret empty/);
  });

  it('deletes an integration after asking for confirmation', async () => {
    const { browser, call, mint } = await newSite();
    await call('PUT', '/v1/integrations/m', { ...integrations.metabase, claims: {}, unrestricted: true });
    const path = `${LIST}/m/delete`;
    assert.match(textOf(await browser.get(path)), /no embed token is issued.*at most 300 seconds.*secret/);
    const opened = await openForm(browser, path);
    assert.equal((await browser.post(path, opened)).headers.location, LIST);
    assert.equal((await mint('m')).status, 404);
  });

  it('shows the issuer and the keys, and rotates them once per form', async () => {
    const { browser, call } = await newSite();
    assert.match(textOf(await browser.get(KEYS)), /There are none yet/);
    await call('PUT', '/v1/integrations/cube', integrations.jwt);
    const keys = async () => (await call('GET', '/v1/signing-keys')).json;
    const { issuer, jwks_url, signing_keys } = await keys();
    const page = await browser.get(KEYS);
    for (const text of [issuer, jwks_url, signing_keys[0].kid]) assert.ok(page.text.includes(text), text);
    assert.ok(issuer.startsWith('http://groups.test/'));
    const opened = await openForm(browser, ROTATE);
    const rotated = await browser.post(ROTATE, opened);
    assert.equal(rotated.headers.location, KEYS);
    assert.match(textOf(await browser.get(KEYS)), /does not sign yet/);
    assert.equal((await keys()).signing_keys.length, 4);
    // Submits the same form again, which would revoke the keys that are published now.
    const again = await browser.post(ROTATE, { ...opened, revoke: 'on' });
    assert.equal(again.status, 412);
    assert.match(textOf(again), /key set was changed after you opened this page/);
    assert.equal((await keys()).signing_keys.length, 4);
    const revoked = await browser.post(ROTATE, { ...fieldsOf(again.text, ROTATE), revoke: 'on' });
    assert.equal(revoked.headers.location, KEYS);
    assert.equal((await keys()).signing_keys.length, 2);
  });

  it('shows nothing to others than admins, as the API, and accepts nothing from them', async () => {
    const { browser, call, reader } = await newSite();
    await call('PUT', '/v1/integrations/m', integrations.metabase);
    const edit = `${LIST}/m/edit`;
    const opened = await openForm(browser, edit);
    const other = await reader();
    const { csrf } = await openForm(other, '/console/user-groups', '/console/sign-out');
    assert.doesNotMatch((await other.get('/console/user-groups')).text, /integrations/);
    for (const path of [LIST, `${LIST}/m`]) assert.equal((await other.get(path)).status, 403, path);
    for (const path of [edit, `${LIST}/m/delete`, NEW, ROTATE]) {
      assert.equal((await other.get(path)).status, 403, path);
      assert.equal((await other.post(path, { ...opened, csrf: csrf! })).status, 403, path);
    }
    for (const path of [`${LIST}/-/types`, KEYS]) assert.equal((await other.get(path)).status, 403, path);
    assert.equal((await call('GET', '/v1/integrations/m')).json.integration.version, 1);
  });
});

/** Returns the key that verifies the minted token. */
async function signatureKeyOf({ json }: TestResponse, keys: readonly string[]): Promise<string | undefined> {
  for (const key of keys) {
    const isValid = await jwtVerify(json.embed_token.token, Buffer.from(key)).then(
      () => true,
      () => false,
    );
    if (isValid) return key;
  }
  return undefined;
}
