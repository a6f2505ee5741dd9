// Contract: POST /v1/embed-tokens mints tokens that the tools accept, filled only with the values of one user
// group.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describeOnEachDatabase } from '../support/database.ts';
import { acme, acmeText, DASHBOARD, EmbedSite, integrations, SECRET } from '../support/embed-token/site.ts';
import { decodeAs } from '../support/embed-token/tool.ts';
import type { TestResponse } from '../support/http.ts';
import { assertProblem, pointersOf } from '../support/problem.ts';

const TYPES = Object.keys(integrations) as (keyof typeof integrations)[];
const acmeId = acme.user_group_id;

describeOnEachDatabase('POST /v1/embed-tokens', (database) => {
  const site = EmbedSite.of(database, { env: { UGS_PUBLIC_URL: 'https://groups.example.com/x/' } });
  let userGroupToken: string;
  before(async () => {
    await site.putAll();
    userGroupToken = await site.createGroup();
  });

  it('mints a JWT with exactly the specified claims, which jose verifies with the published keys', async () => {
    const startedAt = Math.floor(site.now / 1_000);
    const minted = await site.mint({ integration: 'jwt', token: userGroupToken, viewer: 'Zoë 7' });
    assert.equal(minted.status, 201);
    const { token, type, expires_at, ...rest } = minted.json.embed_token;
    assert.deepEqual([type, rest, minted.headers['cache-control']], ['jwt', {}, 'no-store']);
    const keys = createLocalJWKSet((await site.keySet()).json);
    const { payload, protectedHeader } = await jwtVerify(token, keys, { audience: 'cube' });
    assert.deepEqual({ ...protectedHeader, kid: '' }, { alg: 'ES256', typ: 'JWT', kid: '' });
    const { iss, iat, nbf, exp, jti, ...claims } = payload;
    assert.match(iss!, /^https:\/\/groups\.example\.com\/x\/issuers\/[0-9a-f]{25,}$/);
    assert.match(jti!, /^[\w-]{22}$/);
    assert.ok(exp! - 300 - startedAt <= 2);
    assert.deepEqual([iat, nbf, expires_at], [exp! - 360, exp! - 360, new Date(exp! * 1_000).toISOString()]);
    const stored = (await site.asAdmin('GET', `/v1/user-groups/${encodeURIComponent(acmeId)}`)).json
      .user_group;
    assert.deepEqual(claims, {
      sub: acmeId,
      aud: 'cube',
      viewer: 'Zoë 7',
      tenant: acmeId,
      region: 'EMEA',
      user_group: {
        id: stored.team_id,
        provided_id: acmeId,
        environment: 'Customer',
        version: 1,
        mapping: acme.mapping,
        properties: { region: 'EMEA', plan: 'gold', seats: 9007199254740992 },
      },
    });
    assert.ok(Buffer.from(token.split('.')[1], 'base64url').toString().includes('"seats":9007199254740993'));
  });

  it('mints tokens that a verifier whose clock is a minute behind accepts', async () => {
    const keys = createLocalJWKSet((await site.keySet()).json);
    const secret = new TextEncoder().encode(SECRET);
    for (const [integration, key] of [
      ['jwt', keys],
      ['superset', () => secret],
    ] as const) {
      const { json } = await site.mint({ integration, token: userGroupToken });
      const currentDate = new Date(site.now - 59_000);
      // With a maximum age, jose checks `iat` like PyJWT, which Superset uses.
      await jwtVerify(json.embed_token.token, key as typeof keys, { currentDate, maxTokenAge: '1h' });
    }
  });

  describe('narrowed for one viewer', () => {
    const regional = {
      user_group_id: 'regional',
      name: 'R',
      properties: { regions: ['EMEA', 'APAC'], region: 'EMEA', boards: [{ dashboard: 7 }, { dashboard: 8 }] },
    };
    const setting = { property: 'regions' };
    const properties = ['regions', 'boards'];
    before(async () => {
      await site.createGroup(regional);
      await site.put('narrow-jwt', {
        type: 'jwt',
        settings: { audience: 'a', properties },
        claims: { regions: setting },
      });
      await site.put('narrow-metabase', {
        ...integrations.metabase,
        settings: { url: 'https://m.example.com', resources: { property: 'boards' }, properties },
        claims: { regions: setting },
      });
      await site.put('narrow-lightdash', {
        ...integrations.lightdash,
        settings: { resources: [{ dashboardSlug: 'a' }], properties },
        claims: { regions: setting },
      });
    });
    const mint = (integration: string, narrow?: unknown, more: object = {}) =>
      site.mint({ integration, user_group_id: 'regional', narrow, ...more });
    const claimsOf = async (...args: Parameters<typeof mint>) => {
      const { status, json } = await mint(...args);
      assert.equal(status, 201, JSON.stringify(json));
      return decodeJwt(json.embed_token.token) as TestResponse['json'];
    };

    it('has the narrowed values everywhere', async () => {
      const narrow = { regions: ['APAC'] };
      const jwt = await claimsOf('narrow-jwt', narrow);
      assert.deepEqual([jwt.regions, jwt.user_group.properties.regions], [['APAC'], ['APAC']]);
      assert.deepEqual((await claimsOf('narrow-jwt')).regions, ['EMEA', 'APAC']);
      const resource = { dashboard: 8 };
      assert.deepEqual((await claimsOf('narrow-metabase', narrow, { resource })).params.regions, ['APAC']);
      assert.deepEqual((await claimsOf('narrow-lightdash', narrow)).userAttributes.regions, ['APAC']);
    });

    it('has a resource from a property of the user group, and no other', async () => {
      const { resource } = await claimsOf('narrow-metabase', undefined, { resource: { dashboard: 8 } });
      assert.deepEqual(resource, { dashboard: 8 });
      const other = await mint('narrow-metabase', undefined, { resource: { dashboard: 9 } });
      assertProblem(other, 'invalid_request');
      const boards = [{ dashboard: 7 }];
      assert.deepEqual((await claimsOf('narrow-metabase', { boards })).resource, { dashboard: 7 });
      assertProblem(
        await mint('narrow-metabase', { boards }, { resource: { dashboard: 8 } }),
        'invalid_request',
      );
    });

    it('is not minted with a value that is not one of the user group', async () => {
      const minted = await mint('narrow-jwt', { regions: ['LATAM'] });
      assertProblem(minted, 'claim_invalid');
      assert.equal(minted.json.errors[0].pointer, '/narrow/regions');
    });

    it('is not minted with a property that no claim, rule or resource of the token has', async () => {
      const { regions, boards } = regional.properties;
      const sub = { property: 'region' };
      const listed = { properties: ['regions', 'region', 'boards'] };
      await site.put('narrow-flat', {
        type: 'jwt',
        secret: SECRET,
        settings: { algorithm: 'HS256', audience: 'a', flat: true, ...listed },
        claims: { sub },
      });
      const row_level_security = [{ all_datasets: true, column: 'region', value: setting }];
      await site.put('narrow-superset', {
        ...integrations.superset,
        settings: { ...integrations.superset.settings, row_level_security, ...listed },
      });
      const [scalar, list, resource] = [{ region: 'EMEA' }, { regions }, { boards }];
      for (const [integration, narrow, status] of [
        ['narrow-flat', scalar, 201],
        ['narrow-flat', list, 422],
        ['narrow-superset', list, 201],
        ['narrow-superset', scalar, 422],
        ['narrow-lightdash', list, 201],
        ['narrow-lightdash', resource, 422],
        ['narrow-metabase', resource, 201],
        ['narrow-jwt', resource, 201],
      ] as const) {
        const minted = await mint(integration, narrow, {
          resource: integration === 'narrow-metabase' ? { dashboard: 7 } : undefined,
        });
        assert.equal(minted.status, status, `${integration} ${minted.text}`);
        if (status === 422) assertProblem(minted, 'claim_invalid');
      }
    });

    it('shows no more when it is resolved or introspected', async () => {
      const { json } = await mint('narrow-jwt', { regions: ['APAC'] });
      const { token } = json.embed_token;
      const resolved = await site.service.resolve(token);
      assert.deepEqual(resolved.json.user_group.properties.regions, ['APAC']);
      assert.equal(resolved.json.user_group.properties.region, 'EMEA');
      const introspected = await site.service.introspect(token);
      assert.deepEqual(introspected.json.user_group.properties.regions, ['APAC']);
    });
  });

  describe('with the secret of a tool', () => {
    const header = { kid: 'secret-id', iss: 'client-id' };
    const tableau = {
      type: 'jwt',
      secret: SECRET,
      settings: { algorithm: 'HS256', audience: 'tableau', header, flat: true, properties: ['user'] },
      claims: { sub: { property: 'user' }, scp: { constant: ['tableau:views:embed'] } },
    };

    it('has the header and the claims that the tool defines, and nothing else', async () => {
      await site.createGroup({ user_group_id: 'flat', name: 'F', properties: { user: 'a@example.com' } });
      await site.put('tableau', tableau);
      const { json } = await site.mint({ integration: 'tableau', user_group_id: 'flat' });
      const { token } = json.embed_token;
      const key = new TextEncoder().encode(SECRET);
      const { payload, protectedHeader } = await jwtVerify(token, key, {
        audience: 'tableau',
        issuer: 'client-id',
      });
      assert.deepEqual(protectedHeader, { alg: 'HS256', typ: 'JWT', ...header });
      const { iat, nbf, exp, jti, ...claims } = payload;
      assert.ok(iat && nbf && exp && jti);
      assert.deepEqual(claims, {
        iss: 'client-id',
        sub: 'a@example.com',
        aud: 'tableau',
        scp: ['tableau:views:embed'],
      });
      assertProblem(await site.service.resolve(token), 'user_group_token_not_found');
      const { secret: _, ...stored } = (await site.asAdmin('GET', '/v1/integrations/tableau')).json
        .integration;
      assert.equal(JSON.stringify(stored).includes(SECRET), false);
    });

    it('names the user group unless the tool has other claims', async () => {
      const { claims: _, ...rest } = tableau;
      const settings = { algorithm: 'HS256', audience: 'a' };
      await site.put('hs256', { ...rest, settings });
      const token = await site.token('hs256', { user_group_id: 'flat', viewer: 'v' });
      const { payload } = await jwtVerify(token, new TextEncoder().encode(SECRET));
      const { sub, viewer, iss, user_group } = payload as {
        user_group: { provided_id: string };
      } & typeof payload;
      assert.deepEqual([sub, viewer, iss, user_group.provided_id], ['flat', 'v', undefined, 'flat']);
    });
  });

  it('mints RS256 for several audiences, without a property that the group lacks', async () => {
    const settings = { algorithm: 'RS256', audience: ['grafana', 'proxy'], properties: ['absent'] };
    await site.put('rs256', { type: 'jwt', ttl_seconds: 3600, settings });
    const token = await site.token('rs256');
    const keys = createLocalJWKSet((await site.keySet()).json);
    const { payload } = await jwtVerify(token, keys, { audience: 'proxy', algorithms: ['RS256'] });
    assert.deepEqual([payload.aud, payload.exp! - payload.iat!], [['grafana', 'proxy'], 3660]);
    assert.deepEqual((payload.user_group as { properties: object }).properties, {});
    assert.equal('viewer' in payload, false);
  });

  it('mints a token and the URL for Metabase', async () => {
    const request = { integration: 'metabase', token: userGroupToken, resource: { question: 9 } };
    const { embed_token } = (await site.mint(request)).json;
    const { exp, ...claims } = decodeAs.metabase(embed_token.token, SECRET, site.now);
    assert.deepEqual(claims, {
      resource: { question: 9 },
      params: { region: 'EMEA', source: 213, tier: [1.5, 'a'] },
    });
    assert.equal(embed_token.expires_at, new Date(Number(exp) * 1_000).toISOString());
    assert.equal(embed_token.url, `https://metabase.example.com/embed/question/${embed_token.token}`);
    assert.throws(() => decodeAs.metabase(embed_token.token, SECRET, site.now + 361_000), /jwt expired/);
    assert.throws(() => decodeAs.metabase(embed_token.token, `${SECRET}x`, site.now), /invalid signature/);
  });

  it('mints a guest token for Superset, and writes its SQL', async () => {
    const token = await site.token('superset', { viewer: 'user-31' });
    const { iat, exp, ...claims } = decodeAs.superset(token, SECRET, site.now);
    assert.deepEqual(claims, {
      user: { username: acmeId, first_name: 'user-31' },
      resources: [{ type: 'dashboard', id: DASHBOARD }],
      rls_rules: [{ dataset: 12, clause: "customer = 'Acme ''O''''Brienü'" }, { clause: 'source = 213' }],
      aud: 'superset',
      type: 'guest',
    });
    assert.equal(Number(exp) - Number(iat), 360);
  });

  it('mints a guest token for Superset that the key of the service signs, so that Superset cannot mint', async () => {
    const { secret: _, ...superset } = integrations.superset;
    const settings = { ...superset.settings, algorithm: 'RS256' };
    await site.put('superset-rs256', { ...superset, settings });
    const keys = createLocalJWKSet((await site.keySet()).json);
    const { payload } = await jwtVerify(await site.token('superset-rs256'), keys, { audience: 'superset' });
    assert.equal(payload.type, 'guest');
  });

  it('mints a token for Lightdash, with attributes as texts', async () => {
    const token = await site.token('lightdash', { viewer: 'user-31' });
    const { exp: _, ...claims } = decodeAs.lightdash(token, SECRET, site.now);
    assert.deepEqual(claims, {
      content: { type: 'dashboard', dashboardSlug: 'revenue', canExportCsv: true },
      userAttributes: { customer: acmeId, seats: '9007199254740993' },
      user: { externalId: 'user-31' },
    });
    assert.deepEqual(decodeJwt(await site.token('lightdash')).user, { externalId: acmeId });
  });

  it('mints a token of every type that expires when the response says, with every claim of the integration', async () => {
    for (const type of TYPES) {
      const minted = await site.mint({ integration: type, token: userGroupToken, ...resourceFor(type) });
      const { token, expires_at } = minted.json.embed_token;
      const payload = decodeJwt(token);
      assert.equal(payload.exp! * 1_000, Date.parse(expires_at), type);
      const { claims = {} } = integrations[type] as { claims?: object };
      for (const name of Object.keys(claims))
        assert.ok(JSON.stringify(payload).includes(`"${name}":`), `${type} ${name}`);
    }
  });

  it('gives every token its own id', async () => {
    const ids = await Promise.all(
      Array.from({ length: 50 }, async () => decodeJwt(await site.token('jwt')).jti),
    );
    assert.equal(new Set(ids).size, 50);
  });

  describe('mints nothing', () => {
    it('if the group lacks a value or has an empty one, and points to each', async () => {
      await site.put('strict', {
        type: 'metabase',
        secret: SECRET,
        settings: {
          ...integrations.metabase.settings,
          resources: [{ dashboard: 7 }],
          properties: ['a/b', 'c'],
        },
        claims: { one: { property: 'a/b' }, two: { property: 'c' }, three: { mapping: '40' } },
      });
      const empty = [null, '', [], {}, [''], ['a', null], [[]]];
      for (const [index, value] of empty.entries()) {
        const group = { user_group_id: `empty-${index}`, name: 'E', properties: { c: value } };
        await site.service.get(group);
        const response = await site.mint({ integration: 'strict', user_group_id: group.user_group_id });
        assertProblem(response, 'claim_missing');
        assert.deepEqual(
          pointersOf(response),
          ['/properties/a~1b', '/properties/c', '/mapping/40'],
          JSON.stringify(value),
        );
        assert.equal('embed_token' in response.json, false);
      }
    });

    it('with a data source that is reserved for another user group, by its id, its number or under another schema', async () => {
      await site.asAdmin('PUT', '/v1/schemas/40', { name: 'Orders' });
      const reserved = { schema_id: '40', name: 'T', user_group_id: 'owner' };
      const { data_source } = (await site.asAdmin('PUT', '/v1/data-sources/theirs', reserved)).json;
      const flat = { ...integrations.jwt.settings, flat: true, algorithm: 'HS256' };
      const claims = { sub: { field: 'provided_id' } };
      await site.put('flat', { type: 'jwt', secret: SECRET, settings: flat, claims });
      const mintFor = async (user_group_id: string, integration: string) =>
        site.mint({ integration, user_group_id, ...resourceFor(integration) });
      const properties = { region: 'EMEA', seats: 1 };
      for (const [id, mapping] of Object.entries({
        owner: { 40: 'theirs' },
        'by-id': { 40: 'theirs' },
        'by-number': { 40: data_source.data_source_id },
        'other-schema': { 40: 1e6, 41: 'theirs' },
      })) {
        await site.createGroup({ user_group_id: id, name: id, mapping, properties });
        const refused = id === 'owner' ? [] : id === 'other-schema' ? ['jwt'] : ['jwt', 'metabase'];
        for (const integration of ['jwt', 'metabase', 'lightdash', 'flat']) {
          const minted = await mintFor(id, integration);
          if (!refused.includes(integration)) assert.equal(minted.status, 201, minted.text);
          else {
            assertProblem(minted, 'claim_invalid');
            const [{ pointer }] = minted.json.errors;
            assert.equal(pointer, id === 'other-schema' ? '/mapping/41' : '/mapping/40');
          }
        }
      }
      for (const path of ['data-sources/theirs', 'schemas/40'])
        assert.equal((await site.asAdmin('DELETE', `/v1/${path}?force=true`)).status, 204);
    });

    it('if the token would have more than 4 KiB', async () => {
      const properties = { region: 'r', plan: 'x'.repeat(3_000) };
      await site.service.get({ user_group_id: 'long', name: 'L', properties });
      assertProblem(await site.mint({ integration: 'jwt', user_group_id: 'long' }), 'claim_invalid');
      await site.service.put({ user_group_id: 'long', properties: { region: 'r', plan: 'x'.repeat(2_000) } });
      const { token } = (await site.mint({ integration: 'jwt', user_group_id: 'long' })).json.embed_token;
      assert.ok(token.length > 2_500 && token.length <= 4_096);
    });

    it('for a token that is no longer valid, unknown, an embed token or of another environment', async () => {
      const rotated = await site.createGroup({
        user_group_id: 'rotated',
        name: 'R',
        properties: { region: 'r' },
      });
      await site.service.post({ current_token: rotated });
      const testing = await site.service.apiToken({ permission: 'embed', environment: 'Testing' });
      const tokens = [rotated, 'unknown', await site.token('jwt'), site.service.token];
      for (const token of tokens) {
        assertProblem(await site.mint({ integration: 'jwt', token }), 'user_group_token_not_found');
      }
      const foreign = await site.mint({ integration: 'jwt', token: userGroupToken }, testing.token);
      assertProblem(foreign, 'not_found');
    });

    it('for a group that is suspended, deleted or does not exist', async () => {
      const group = { user_group_id: 'ended', name: 'E', properties: { region: 'r' } };
      const token = await site.createGroup(group);
      const byId = { integration: 'jwt', user_group_id: 'ended' };
      const byToken = { integration: 'jwt', token };
      await site.suspend('ended');
      assertProblem(await site.mint(byId), 'user_group_not_found');
      assertProblem(await site.mint(byToken), 'user_group_token_not_found');
      await site.suspend('ended', false);
      assert.deepEqual([(await site.mint(byId)).status, (await site.mint(byToken)).status], [201, 201]);
      await site.asAdmin('DELETE', '/v1/user-groups/ended');
      assertProblem(await site.mint(byId), 'user_group_not_found');
      assertProblem(await site.mint(byToken), 'user_group_token_not_found');
    });

    it('for an integration that does not exist, is deleted or is in another workspace', async () => {
      assertProblem(await site.mint({ integration: 'none', user_group_id: acmeId }), 'not_found');
      await site.put('deleted', integrations.jwt);
      await site.token('deleted');
      await site.asAdmin('DELETE', '/v1/integrations/deleted');
      assertProblem(await site.mint({ integration: 'deleted', user_group_id: acmeId }), 'not_found');
      const other = await site.service.apiToken({ permission: 'embed', workspaceName: 'other' });
      assertProblem(await site.mint({ integration: 'jwt', user_group_id: acmeId }, other.token), 'not_found');
    });

    it('for a resource that the integration does not allow, or must choose', async () => {
      const base = { user_group_id: acmeId };
      const resources = [{ dashboard: 8 }, { dashboard: '7' }, { dashboard: 7, question: 9 }, {}, undefined];
      for (const resource of resources) {
        const response = await site.mint({ ...base, integration: 'metabase', resource });
        assertProblem(response, 'invalid_request');
        assert.equal(response.json.errors[0].pointer, '/resource');
      }
      assertProblem(await site.mint({ ...base, integration: 'jwt', resource: {} }), 'invalid_request');
    });

    it('for an invalid body', async () => {
      const id = { user_group_id: acmeId };
      const bodies: [object, string][] = [
        [{ integration: 'jwt' }, '/token'],
        [{ integration: 'jwt', ...id, token: userGroupToken }, '/token'],
        [{ ...id }, '/integration'],
        [{ integration: 'jwt', ...id, viewer: '' }, '/viewer'],
        [{ integration: 'jwt', ...id, viewer: 'x'.repeat(256) }, '/viewer'],
        [{ integration: 'jwt', ...id, viewer: 7 }, '/viewer'],
        [{ integration: 'metabase', ...id, resource: 'dashboard' }, '/resource'],
        ...[null, [], 'x', 7].map((narrow): [object, string] => [
          { integration: 'jwt', ...id, narrow },
          '/narrow',
        ]),
      ];
      for (const [body, pointer] of bodies) {
        const response = await site.mint(body);
        assertProblem(response, 'invalid_request');
        assert.equal(response.json.errors[0].pointer, pointer, JSON.stringify(body));
      }
      assert.equal(
        decodeJwt(await site.token('jwt', { viewer: '\u{1f642}'.repeat(255) })).viewer,
        '\u{1f642}'.repeat(255),
      );
    });
  });

  it('is valid no longer than the user group token in its grace period', async () => {
    const group = { user_group_id: 'retiring', name: 'R', properties: { region: 'r' } };
    const token = await site.createGroup(group);
    await site.service.post({ current_token: token, grace_period_seconds: 90 });
    const { expires_at } = (await site.mint({ integration: 'jwt', token })).json.embed_token;
    assert.ok(Date.parse(expires_at) <= site.now + 90_000);
    assert.ok(Date.parse(expires_at) > site.now + 80_000);
  });

  it('is not issued in the last second of the grace period, when it would be expired', async () => {
    const token = await site.createGroup({ user_group_id: 'ending', name: 'E', properties: { region: 'r' } });
    await site.service.post({ current_token: token, grace_period_seconds: 90 });
    const { expires_at } = (await site.service.resolve(token)).json.token;
    site.service.clockAheadMs = Math.floor(Date.parse(expires_at) / 1_000) * 1_000 - Date.now();
    try {
      assertProblem(await site.mint({ integration: 'jwt', token }), 'user_group_token_not_found');
    } finally {
      site.service.clockAheadMs = 0;
    }
  });

  it('uses the current versions of the integration and the group', async () => {
    await site.put('changing', integrations.jwt);
    assert.equal(decodeJwt(await site.token('changing')).aud, 'cube');
    await site.put('changing', {
      ...integrations.jwt,
      settings: { audience: 'other', properties: ['region'] },
    });
    assert.equal(decodeJwt(await site.token('changing')).aud, 'other');
    await site.service.put(acmeText.replace('EMEA', 'APAC'));
    assert.equal(decodeJwt(await site.token('changing')).region, 'APAC');
    await site.service.put(acmeText);
  });

  it('never contains a value of another group, whatever the templates and the values say', async () => {
    const secretOf = (index: number) => `marker-of-${index}-${'z'.repeat(index)}`;
    const groups = Array.from({ length: 8 }, (_, index) => ({
      user_group_id: `tenant-${index}`,
      name: secretOf(index),
      mapping: { 40: secretOf(index), [`tenant-${index + 1}`]: secretOf(index) },
      properties: {
        region: secretOf(index),
        // Text that looks like a template, a path or another group is an ordinary value.
        next: { property: 'region', user_group_id: `tenant-${index + 1}` },
        path: `../tenant-${index + 1}/region`,
        sql: `' or customer = 'tenant-${index + 1}`,
        __other: `{{ tenant-${index + 1}.region }}`,
      },
    }));
    const tokens = await Promise.all(groups.map((group) => site.createGroup(group)));
    const properties = ['region', 'next', 'path', '__other'];
    const names = [
      'region',
      'next',
      'path',
      'mapping',
      'field',
      'tenant-1',
      '../tenant-1/region',
      'tenant-1.region',
    ];
    const claims = Object.fromEntries([
      ...properties.map((name) => [`p_${name}`, { property: name }]),
      ['m', { mapping: '40' }],
      ['f', { field: 'name' }],
    ]);
    await site.put('all', { type: 'jwt', settings: { audience: 'a', properties }, claims });
    for (const [index, name] of names.entries()) {
      const setting = { audience: 'a', properties: [name] };
      await site.put(`odd-${index}`, { type: 'jwt', settings: setting, claims: { x: { property: name } } });
    }
    const check = (text: string, index: number) => {
      const payload = Buffer.from(text.split('.')[1]!, 'base64url').toString();
      for (const other of groups.keys())
        assert.equal(
          payload.includes(secretOf(other)) && other !== index && !secretOf(index).includes(secretOf(other)),
          false,
        );
    };
    await Promise.all(
      tokens.flatMap((token, index) =>
        ['all', 'metabase', ...names.map((_, odd) => `odd-${odd}`)].map(async (integration) => {
          const minted = await site.mint({ integration, token, ...resourceFor(integration) });
          assert.ok([201, 422].includes(minted.status), minted.text);
          if (minted.status === 201) check(minted.json.embed_token.token, index);
        }),
      ),
    );
  });

  it('writes no token or secret into the log', async () => {
    const minted = await Promise.all(TYPES.map((type) => site.token(type, resourceFor(type))));
    const log = site.service.logLines.join('\n');
    for (const token of minted) assert.equal(log.includes(token.split('.')[2]!), false);
    assert.equal(log.includes(SECRET), false);
    assert.equal(decodeProtectedHeader(minted[0]!).alg, 'ES256');
  });
});

function resourceFor(integration: string): object {
  return integration === 'metabase' ? { resource: { dashboard: 7 } } : {};
}
