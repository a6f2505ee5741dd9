// The pages on dashboard tools in `examples/`: their integrations are valid, and mint the tokens that the
// pages promise.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite } from '../support/embed-token/site.ts';
import { decodeAs } from '../support/embed-token/tool.ts';
import { codeBlocks, pageText } from '../support/page.ts';
import { assertProblem } from '../support/problem.ts';

const ACME = 'acme-7';

interface Integration {
  type: string;
  secret: string;
  settings: Record<string, unknown>;
}

/** Returns the two JSON blocks of a page: the integration, and the request for a token. */
function readPage(tool: string) {
  const text = pageText(`examples/${tool}/README.md`);
  const [integration, request] = codeBlocks(text, 'json').map((block) => JSON.parse(block));
  return { text, integration: integration as Integration, request: request as { integration: string } };
}

/** Returns what the `cube.js` of the page computes for a security context, and the source that it passes to `driverFor`. */
function cubeKeys(page: string, securityContext: object) {
  const [settings = ''] = codeBlocks(page, 'js');
  const module = { exports: {} as Record<string, (context: object) => string> };
  runInNewContext(settings, {
    module,
    require: createRequire(import.meta.url),
    process: { env: {} },
    driverFor: (source: unknown) => source,
  });
  const keyOf = (name: string) => module.exports[name]!({ securityContext });
  return {
    source: keyOf('driverFactory'),
    contextToAppId: keyOf('contextToAppId'),
    contextToOrchestratorId: keyOf('contextToOrchestratorId'),
    preAggregationsSchema: keyOf('preAggregationsSchema'),
  };
}

describeOnEachDatabase('The page on', (database) => {
  const site = EmbedSite.of(database, { env: { UGS_PUBLIC_URL: 'https://groups.example.com' } });

  /** Follows the page and returns the token; first asserts that a group without the region gets none. */
  async function follow(tool: string) {
    const page = readPage(tool);
    assert.equal(page.request.integration, tool);
    const put = await site.put(tool, page.integration);
    assert.equal(put.status, 201, put.text);
    await site.createGroup({ user_group_id: ACME, name: 'Acme', properties: { region: 'EMEA' } });
    const minted = await site.mint(page.request);
    assert.equal(minted.status, 201, minted.text);
    if (JSON.stringify(page.integration).includes('{"property"')) {
      await site.service.put({ user_group_id: ACME, properties: { region: '' } });
      assertProblem(await site.mint(page.request), 'claim_missing');
      await site.service.put({ user_group_id: ACME, properties: { region: 'EMEA' } });
    }
    return { ...page, minted: minted.json.embed_token, token: minted.json.embed_token.token as string };
  }

  it('embedding', async () => {
    const page = pageText('docs/embedding.md');
    const [, request = ''] = /\/v1\/integrations\/[\s\S]*? -d '(\{[\s\S]*?\})'\n/.exec(page) ?? [];
    const recipes = codeBlocks(page, 'json').filter((block) => block.startsWith('{"type":'));
    assert.equal(recipes.length, 2);
    for (const [index, integration] of [request, ...recipes].entries()) {
      const put = await site.put(`embedding-${index}`, JSON.parse(integration));
      assert.equal(put.status, 201, put.text);
    }
  });

  it('Metabase', async () => {
    const { integration, minted, token, text } = await follow('metabase');
    const { exp: _, ...claims } = decodeAs.metabase(token, integration.secret);
    assert.deepEqual(claims, { resource: { dashboard: 7 }, params: { customer: ACME, region: 'EMEA' } });
    assert.equal(minted.url, `https://metabase.example.com/embed/dashboard/${token}`);
    assert.match(text, /<metabase-dashboard dashboard-id="7">/);
    // Metabase's script sends a request that names the dashboard.
    const named = { integration: 'metabase', user_group_id: ACME, resource: { dashboard: 7 } };
    assert.equal((await site.mint(named)).status, 201);
    for (const resource of [{ dashboard: 8 }, { question: 7 }, {}])
      assertProblem(await site.mint({ ...named, resource }), 'invalid_request');
  });

  it('Superset', async () => {
    const { integration, token, text } = await follow('superset');
    const { iat: _, exp: __, ...claims } = decodeAs.superset(token, integration.secret);
    const [{ id }] = integration.settings.resources as [{ id: string }];
    assert.deepEqual(claims, {
      user: { username: ACME, first_name: 'user-31' },
      resources: [{ type: 'dashboard', id }],
      rls_rules: [
        { dataset: 12, clause: `customer_id = '${ACME}'` },
        { dataset: 14, clause: "region = 'EMEA'" },
      ],
      aud: 'superset',
      type: 'guest',
    });
    assert.match(text, new RegExp(`GUEST_TOKEN_JWT_AUDIENCE = "${claims.aud}"`));
    assert.match(text, new RegExp(`id: '${id}'`));
  });

  it('Lightdash', async () => {
    const { integration, token, text } = await follow('lightdash');
    const { exp: _, ...claims } = decodeAs.lightdash(token, integration.secret);
    const [resource] = integration.settings.resources as [{ dashboardUuid: string }];
    assert.deepEqual(claims, {
      content: { type: 'dashboard', ...resource, canExportCsv: false, canDateZoom: true },
      userAttributes: { customer: ACME, region: 'EMEA' },
      user: { externalId: 'user-31' },
    });
    const attributes = [...text.matchAll(/\$\{lightdash\.attributes\.(\w+)\}/g)].map(([, name]) => name);
    assert.deepEqual(attributes, Object.keys(claims.userAttributes as object));
  });

  it('Cube', async () => {
    const page = pageText('examples/cube/README.md');
    const [, integration = ''] = /\/v1\/integrations\/[\s\S]*? -d '(\{.*\})'\n/.exec(page) ?? [];
    await site.put('cube', JSON.parse(integration));
    const keysOf = async (id: string, source: string | null, region = 'EMEA') => {
      await site.service.get({ user_group_id: id, name: id });
      const mapping = source === null ? null : { '40': source };
      await site.service.put({ user_group_id: id, mapping, properties: { region } });
      const { json } = await site.mint({ integration: 'cube', user_group_id: id });
      return cubeKeys(page, decodeJwt(json.embed_token.token));
    };
    const first = await keysOf('cube-1', 'a');
    const changed = await keysOf('cube-1', 'a', 'APAC');
    const moved = await keysOf('cube-1', 'b');
    const other = await keysOf('cube-2', 'b');
    const unmapped = await keysOf('cube-1', null);
    const all = [first, changed, moved, other, unmapped];
    assert.deepEqual(
      all.map(({ source }) => source),
      ['a', 'a', 'b', 'b', undefined],
    );
    for (const key of ['contextToAppId', 'contextToOrchestratorId'] as const)
      assert.equal(new Set(all.map((keys) => keys[key])).size, 5);
    assert.equal(changed.preAggregationsSchema, first.preAggregationsSchema);
    assert.equal(new Set(all.map((keys) => keys.preAggregationsSchema)).size, 4);
    // Cube does not quote it; databases without quotes have no upper case.
    for (const { preAggregationsSchema } of all)
      assert.match(preAggregationsSchema, /^[a-z][a-z0-9_]{0,30}$/);
  });

  it('Grafana', async () => {
    const { token, text } = await follow('grafana');
    const [ini = ''] = codeBlocks(text, 'ini');
    const [, expected = ''] = /^expect_claims = (.*)$/m.exec(ini)!;
    const { aud, iss } = JSON.parse(expected);
    const { issuer, jwks_url } = (await site.asAdmin('GET', '/v1/signing-keys')).json;
    const keys = createLocalJWKSet((await site.keySet()).json);
    const { payload } = await jwtVerify(token, keys, { audience: aud, issuer });
    // The issuer id differs between installations.
    const [, id] = /\/issuers\/(\w+)$/.exec(issuer)!;
    const [, jwksUrl = ''] = /^jwk_set_url = (.*)$/m.exec(ini)!;
    assert.deepEqual(
      [iss, jwksUrl].map((url) => url.replace('/ID', `/${id}`)),
      [issuer, jwks_url],
    );
    const { provided_id } = payload.user_group as { provided_id: string };
    assert.deepEqual([payload.sub, provided_id, payload.viewer], [ACME, ACME, 'user-31']);
    // A number, not a text chosen by the customer: Grafana ignores the case of logins.
    assert.match(
      ini,
      /^username_attribute_path = join\('', \['customer-', to_string\(user_group\.id\)\]\)$/m,
    );
    assert.match(ini, new RegExp(`^org_mapping = ${ACME}:Acme:Viewer, `, 'm'));
  });
});
