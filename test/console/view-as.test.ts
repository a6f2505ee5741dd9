// The console shows what a dashboard is told about a user group, without giving anyone a token.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { ConsoleBrowser } from '../support/console.ts';
import { csrfOf, textOf, unescaped } from '../support/console-page.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { acme, EmbedSite, integrations, SECRET } from '../support/embed-token/site.ts';
import { decodeAs } from '../support/embed-token/tool.ts';
import type { TestResponse } from '../support/http.ts';

const JWT = /[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}/;

function pathOf(userGroupId: string): string {
  return `/console/user-groups/${encodeURIComponent(userGroupId)}/view-as`;
}

/** Returns the JSON blocks of a page: the claims and the header of each integration. */
function blocks({ text }: TestResponse): Record<string, unknown>[] {
  const claims = text.slice(text.search(/<h2( id="embed-tokens")?>(Embed tokens|Claims)/));
  return [...claims.matchAll(/<pre><code>([\s\S]*?)<\/code><\/pre>/g)].map(([, json]) =>
    JSON.parse(unescaped(json!.replace(/<[^>]*>/g, ''))),
  );
}

/** Returns the content of the masked field after minting. */
function secretOn({ text }: TestResponse): string {
  return unescaped(/<input id="secret" type="password" value="([^"]+)" readonly/.exec(text)![1]!);
}

describeOnEachDatabase('View as a user group', (database) => {
  const path = pathOf(acme.user_group_id);
  const site = EmbedSite.of(database);
  let admin: ConsoleBrowser;
  let reader: ConsoleBrowser;
  before(async () => {
    await site.putAll();
    await site.createGroup();
    admin = await ConsoleBrowser.signIn(site.service, site.admin);
    const readOnly = await site.service.apiToken({ permission: 'read-only' });
    reader = await ConsoleBrowser.signIn(site.service, readOnly.token);
  });

  async function mint(fields: Record<string, string>, at = path): Promise<TestResponse> {
    return admin.post(at, { csrf: csrfOf(await admin.get(path)), ...fields });
  }

  it('shows the claims and the header that each integration would mint, with exact numbers', async () => {
    const page = await admin.get(path);
    assert.equal(page.status, 200);
    const minted = blocks(page);
    assert.equal(minted.length, 2 * Object.keys(integrations).length);
    const jwt = minted.find(({ aud }) => aud === 'cube')!;
    assert.deepEqual([jwt.sub, jwt.tenant, jwt.region], [acme.user_group_id, acme.user_group_id, 'EMEA']);
    assert.equal(Number(jwt.exp) - Number(jwt.iat), 360);
    assert.match(unescaped(page.text), /"seats": 9007199254740993/);
    assert.deepEqual(minted.find(({ resource }) => resource !== undefined)!.resource, { dashboard: 7 });
    const algorithms = minted.flatMap(({ alg }) => alg ?? []);
    assert.deepEqual([...new Set(algorithms.sort())], ['ES256', 'HS256']);
  });

  it('shows no token, no secret and no property that must not leave in claims', async () => {
    for (const browser of [admin, reader]) {
      const page = await browser.get(path);
      assert.doesNotMatch(page.text, JWT);
      assert.equal(page.text.includes(SECRET), false);
      assert.equal(JSON.stringify(blocks(page)).includes('not for tools'), false);
    }
  });

  it('is not a use of the user group', async () => {
    await admin.get(path);
    await mint({ integration: 'jwt' });
    await site.service.writeUsage();
    const stored = await site.asAdmin('GET', `/v1/user-groups/${encodeURIComponent(acme.user_group_id)}`);
    assert.equal(stored.json.user_group.last_seen_at, null);
  });

  it('shows the properties as variables, with their types', async () => {
    const text = textOf(await reader.get(path));
    assert.match(text, /region "EMEA" text plan "gold" text seats 9007199254740993 number/);
  });

  it('shows what is missing instead of claims, with the status and code of the API', async () => {
    await site.service.get({ user_group_id: 'bare', name: 'Bare' });
    const page = await admin.get(pathOf('bare'));
    const refused = await site.mint({
      integration: 'metabase',
      user_group_id: 'bare',
      resource: { dashboard: 7 },
    });
    assert.equal(refused.status, 422);
    const text = textOf(page);
    assert.match(text, /Nothing is minted: 422 claim_missing/);
    for (const { pointer, detail } of refused.json.errors) assert.ok(text.includes(`${pointer} ${detail}`));
    assert.match(text, /No properties/);
    assert.equal(blocks(page).length, 0);
  });

  it('shows the stored mapping if there is no catalogue', async () => {
    const text = textOf(await reader.get(path));
    assert.match(text, /There is no catalogue.* \{ "40": 213, "41": "own" \}/);
  });

  it('shows the effective data sources, and dangling references as errors', async () => {
    const put = (at: string, body: object) => site.asAdmin('PUT', at, body);
    await put('/v1/schemas/40', { name: 'Orders' });
    await put('/v1/data-sources/own', { schema_id: '40', name: 'Own', attributes: { host: 'db-7' } });
    await site.service.get({ user_group_id: 'mapped', name: 'Mapped', mapping: { 40: 'own', 41: 'gone' } });
    const text = textOf(await reader.get(pathOf('mapped')));
    assert.match(text, /41 gone error does not exist: the dashboard shows an error/);
    assert.match(text, /40 Orders own Own, number 1 \{"host":"db-7"\}/);
  });

  it('mints a token that works for at most a minute, and shows it masked', async () => {
    const startedAt = Math.floor(site.now / 1_000);
    const page = await mint({ integration: 'jwt' });
    assert.equal(page.status, 200);
    assert.equal(page.headers['cache-control'], 'no-store');
    const token = secretOn(page);
    const keys = createLocalJWKSet((await site.keySet()).json);
    const { payload } = await jwtVerify(token, keys, { audience: 'cube', currentDate: new Date(site.now) });
    assert.ok(payload.exp! >= startedAt + 59 && payload.exp! <= payload.iat! + 120);
    const end = new Date(payload.exp! * 1_000).toISOString();
    assert.ok(page.text.includes(`It works until <time datetime="${end}">`));
    assert.deepEqual(blocks(page)[0], payload);
    assert.equal((await site.service.resolve(token)).json.user_group.provided_id, acme.user_group_id);
    site.service.clockAheadMs += 61_000;
    assert.equal((await site.service.resolve(token)).status, 404);
  });

  it('mints for the chosen resource', async () => {
    const page = await mint({ integration: 'metabase', resource: '{"question":9}' });
    const url = secretOn(page);
    const claims = decodeAs.metabase(url.split('/').at(-1)!, SECRET, site.now);
    assert.deepEqual(claims.resource, { question: 9 });
    assert.match(url, /^https:\/\/metabase\.example\.com\/embed\/question\//);
  });

  it('shows the page again with the problem if nothing can be minted', async () => {
    for (const [resource, status] of [
      ['{"question":10}', 400],
      ['', 400],
      ['{"question":9},"token":"x"', 400],
      ['{', 400],
    ] as const) {
      const page = await mint({ integration: 'metabase', resource });
      assert.equal(page.status, status, resource);
      assert.match(page.text, /class="problem summary" role="alert"/);
      assert.doesNotMatch(page.text, JWT);
    }
    assert.equal((await mint({ integration: 'unknown' })).status, 404);
    assert.equal(
      (await mint({ integration: 'metabase', resource: '{"dashboard":7}' }, pathOf('bare'))).status,
      422,
    );
  });

  it('lets a read-only API token look, but not mint', async () => {
    const page = await reader.get(path);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /Mint a one-minute/);
    const refused = await reader.post(path, { csrf: csrfOf(page), integration: 'jwt' });
    assert.equal(refused.status, 403);
    assert.doesNotMatch(refused.text, JWT);
  });

  describe('of a suspended user group', () => {
    it('says that its token resolves to nothing, and mints nothing', async () => {
      await site.createGroup({ user_group_id: 'paused', name: 'P', properties: { region: 'r' } });
      await site.suspend('paused');
      const page = await admin.get(pathOf('paused'));
      assert.match(textOf(page), /suspended: its token resolves to nothing, and nothing is minted/);
      assert.equal(blocks(page).length, 0);
      assert.equal((await mint({ integration: 'jwt' }, pathOf('paused'))).status, 404);
    });
  });

  it('is not found for an unknown user group, and for one of another environment', async () => {
    const { token } = await site.service.apiToken({ permission: 'admin', environment: 'Testing' });
    const other = await ConsoleBrowser.signIn(site.service, token);
    assert.equal((await other.get(path)).status, 404);
    assert.equal((await admin.get(pathOf('unknown'))).status, 404);
  });
});
