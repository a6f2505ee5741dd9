// Contract: POST /oauth/introspect follows RFC 7662, and says the same as resolve.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeJwt } from 'jose';
import * as oauth from 'oauth4webapi';
import { limits } from '../../src/domain/field.ts';
import { problems } from '../../src/http/response/problem.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { EmbedSite, integrations } from '../support/embed-token/site.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { unresolvableTokens } from '../support/user-group/unresolvable-token.ts';

const PUBLIC_URL = 'https://groups.example.com';

describeOnEachDatabase('POST /oauth/introspect', (database) => {
  const site = EmbedSite.of(database, { env: { UGS_PUBLIC_URL: PUBLIC_URL } });
  const { service } = site;

  const createGroup = (id: string, more: object = {}) =>
    site.createGroup({ user_group_id: id, name: 'Acme', ...more });

  it('returns exactly the specified members in the specified order for a current token', async () => {
    const created = await service.get(
      '{"user_group_id":"full","name":"Fu\\u0308ll","mapping":{"b":"x","a":40},"properties":{"b":1.10,"a":[]}}',
    );
    const { token, team_id } = created.json.user_group;
    const response = await service.introspect(token);
    assert.equal(response.status, 200);
    assert.equal(response.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(response.headers['cache-control'], 'no-store');
    assert.equal(
      response.text,
      `{"active":true,"sub":"full","iss":"${PUBLIC_URL}","token_type":"Bearer",` +
        `"user_group":{"id":${team_id},"provided_id":"full","name":"Fu\u0308ll","environment":"Customer","version":1,` +
        '"mapping":{"b":"x","a":40},"properties":{"b":1.10,"a":[]}}}',
    );
  });

  it('returns exp for a token in its grace period, until it is over', async () => {
    const token = await createGroup('retiring');
    await service.post({ current_token: token, grace_period_seconds: 60 });
    const { expires_at } = (await service.resolve(token)).json.token;
    const { json } = await service.introspect(token);
    assert.deepEqual([json.active, json.exp], [true, Math.floor(Date.parse(expires_at) / 1_000)]);
    service.clockAheadMs = 61_000;
    try {
      assertInactive(await service.introspect(token));
    } finally {
      service.clockAheadMs = 0;
    }
  });

  it('returns exp and iss of an embed token, until its group changes', async () => {
    await site.create('jwt', { type: 'jwt', settings: integrations.jwt.settings });
    await createGroup('embedded');
    const jwt = await site.token('jwt', { user_group_id: 'embedded' });
    const { iss, sub, exp } = decodeJwt(jwt);
    const { json } = await service.introspect(jwt);
    assert.deepEqual([json.active, json.iss, json.sub, json.exp], [true, iss, sub, exp]);
    await service.put({ user_group_id: 'embedded', name: 'Changed' });
    assertInactive(await service.introspect(jwt));
  });

  it('returns the data sources of a catalogue, and dangling references', async () => {
    const { token: admin } = await service.apiToken({ permission: 'admin', workspaceName: 'catalogue' });
    const put = (path: string, body: object) => service.call('PUT', path, body, { token: admin });
    await put('/v1/schemas/40', { name: 'Orders' });
    await put('/v1/data-sources/acme-orders', { schema_id: '40', name: 'Orders of Acme' });
    const group = { user_group_id: 'mapped', name: 'M', mapping: { 40: 'acme-orders', 41: 'gone' } };
    const { token } = (await service.get(group, { token: admin })).json.user_group;
    const resolved = (await service.resolve(token, { token: admin })).json;
    const { user_group } = (await service.introspect(token, { token: admin })).json;
    assert.deepEqual(user_group.data_sources, resolved.data_sources);
    assert.deepEqual(user_group.unresolved, [{ schema_id: '41', data_source: 'gone', reason: 'missing' }]);
  });

  it('returns {"active":false} and nothing else for every token that does not resolve', async () => {
    const { current, dead, callers } = await unresolvableTokens(site);
    const inactive = {
      ...dead,
      'white space after it': `${current} `,
      'a JWT of others': `e30.e30.${'x'.repeat(300)}`,
      'very long': 'x'.repeat(200_000),
    };
    for (const [reason, text] of Object.entries(inactive))
      assertInactive(await service.introspect(text), reason);
    for (const [reason, token] of Object.entries(callers))
      assertInactive(await service.introspect(current, { token }), reason);
    await site.suspend('suspended', false);
    assert.equal((await service.introspect(dead.suspended)).json.active, true);
  });

  it('accepts the API token as Bearer, as the password of Basic, and as Token', async () => {
    const token = await createGroup('schemes');
    const accepted = {
      Bearer: `Bearer ${service.token}`,
      'bearer in lower case': `bearer ${service.token}`,
      Token: `Token ${service.token}`,
      Basic: basic(`dashboard:${service.token}`),
      'Basic without a user': basic(`:${service.token}`),
      'Basic, form-encoded': basic(`client%3A1:${service.token.replace('_', '%5F')}`),
    };
    for (const [scheme, authorization] of Object.entries(accepted)) {
      const response = await service.introspect(token, { token: null, headers: { authorization } });
      assert.equal(response.json.active, true, scheme);
    }
  });

  it('rejects every other authentication with the same 401 invalid_client, and names the schemes', async () => {
    const token = await createGroup('unauthenticated');
    const { id, token: revoked } = await service.apiToken();
    await service.revokeApiToken(id);
    const rejected = {
      none: undefined,
      empty: '',
      'a user group token': `Bearer ${token}`,
      'revoked as Bearer': `Bearer ${revoked}`,
      'revoked as Basic': basic(`x:${revoked}`),
      'the API token as the user of Basic': basic(`${service.token}:`),
      'Basic without a colon': basic(service.token),
      'Basic that is not base64': 'Basic %%%',
      'Basic with a broken escape': basic(`x:${service.token}%`),
      'another scheme': `Digest ${service.token}`,
      'the scheme twice': `Bearer Bearer ${service.token}`,
    };
    const texts = new Set<string>();
    for (const [reason, authorization] of Object.entries(rejected)) {
      const response = await service.introspect(token, { token: null, headers: { authorization } });
      assertOAuthError(response, 'unauthenticated', 'invalid_client', reason);
      const realm = 'realm="user-group-service"';
      // Clients such as the HttpClient of Java read only the first challenge, and know no other than Basic.
      assert.equal(response.headers['www-authenticate'], `Basic ${realm}, Bearer ${realm}, Token ${realm}`);
      texts.add(JSON.stringify({ ...response.json, request_id: '' }));
    }
    assert.equal(texts.size, 1);
  });

  it('rejects Basic everywhere else', async () => {
    const headers = { authorization: basic(`x:${service.token}`) };
    const response = await service.resolve('x', { token: null, headers });
    assert.deepEqual([response.status, response.json.error], [401, undefined]);
    assert.equal(response.headers['www-authenticate'], 'Token realm="user-group-service"');
  });

  it('rejects a revoked API token from the next request on', async () => {
    const token = await createGroup('revocation');
    const { id, token: apiToken } = await service.apiToken({ permission: 'resolve' });
    const headers = { authorization: `Bearer ${apiToken}` };
    assert.equal((await service.introspect(token, { token: null, headers })).json.active, true);
    await service.revokeApiToken(id);
    const response = await service.introspect(token, { token: null, headers });
    assertOAuthError(response, 'unauthenticated', 'invalid_client');
  });

  describe('with a body', () => {
    const post = (body: string | Buffer | undefined, headers: TestRequest['headers'] = {}) =>
      service.call('POST', '/oauth/introspect', body, {
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      });

    it('ignores token_type_hint and parameters that it does not know, as RFC 6749 requires', async () => {
      const token = await createGroup('parameters');
      for (const body of [
        `token=${token}&token_type_hint=refresh_token`,
        `client_id=a&client_secret=b&token=${token}&__proto__=x&client_id=c`,
        `token=%75${token.slice(1)}&token_type_hint=`,
        `token=&token=${token}`,
      ])
        assert.equal((await post(body)).json.active, true, body);
    });

    it('rejects it with 400 invalid_request if it has no token, two, or is not decodable', async () => {
      for (const body of ['token=', 'token_type_hint=x', 'tok%65=x', 'TOKEN=x', '&', '{"token":"x"}']) {
        const response = await post(body);
        assertOAuthError(response, 'invalid_request', 'invalid_request', body);
        assert.deepEqual(response.json.errors, [{ pointer: '/token', detail: 'is required' }]);
      }
      for (const body of ['token=a&token=b', 'token=a&token=a', 'token=%', 'token=%ff', 'token=a&%zz=b'])
        assertOAuthError(await post(body), 'invalid_request', 'invalid_request', body);
      assertOAuthError(await post(undefined), 'body_missing', 'invalid_request');
    });

    it('rejects it with 400 invalid_request if it has more than 1 000 parameters', async () => {
      const token = await createGroup('many-parameters');
      const others = 'a=b&'.repeat(999);
      assert.equal((await post(`${others}token=${token}`)).json.active, true);
      const response = await post(`a&${others}token=${token}`);
      assertOAuthError(response, 'invalid_request', 'invalid_request');
      assert.match(response.json.detail, /must have at most 1000 parameters/);
    });

    it('rejects other media types, codings, large bodies and queries', async () => {
      for (const headers of [
        { 'content-type': 'application/json' },
        { 'content-type': 'application/x-www-form-urlencoded; charset=latin1' },
        { 'content-encoding': 'gzip' },
      ]) {
        const { status, json } = await post('token=x', headers);
        assert.deepEqual([status, json.code], [415, 'unsupported_media_type']);
      }
      assert.equal((await post('token=x', { 'content-type': undefined })).status, 200);
      assert.equal((await post(' '.repeat(limits.bodyBytes + 1))).status, 413);
      const response = await service.call(
        'POST',
        '/oauth/introspect?token=x',
        new URLSearchParams('token=x'),
      );
      assertOAuthError(response, 'invalid_request', 'invalid_request');
    });

    it('does not echo the token in an error', async () => {
      const token = await createGroup('echo');
      for (const body of [`token=${token}&token=${token}`, `token=${token}%`])
        assert.equal((await post(body)).text.includes(token), false);
    });
  });

  it('supports only POST', async () => {
    const response = await service.call('GET', '/oauth/introspect');
    assert.deepEqual([response.status, response.headers.allow], [405, 'POST']);
  });

  describe('for the client oauth4webapi', () => {
    const server = () => ({
      issuer: PUBLIC_URL,
      introspection_endpoint: `${service.url}/oauth/introspect`,
    });
    const client = { client_id: 'a gateway' };
    const introspect = async (token: string, authentication: oauth.ClientAuth) => {
      const options = { [oauth.allowInsecureRequests]: true };
      const response = await oauth.introspectionRequest(server(), client, authentication, token, options);
      return oauth.processIntrospectionResponse(server(), client, response);
    };

    it('is a conforming endpoint', async () => {
      const token = await createGroup('standard');
      const bearer: oauth.ClientAuth = (_server, _client, _body, headers) =>
        headers.set('authorization', `Bearer ${service.token}`);
      for (const authentication of [oauth.ClientSecretBasic(service.token), bearer]) {
        const active = await introspect(token, authentication);
        assert.deepEqual([active.active, active.sub, active.iss], [true, 'standard', PUBLIC_URL]);
        assert.deepEqual(await introspect('unknown', authentication), { active: false });
      }
    });

    it('rejects a client in the way that it expects', async () => {
      const token = await createGroup('standard-refusal');
      await assert.rejects(introspect(token, oauth.ClientSecretBasic('wrong')), (error) => {
        assert.ok(error instanceof oauth.WWWAuthenticateChallengeError);
        assert.equal(error.status, 401);
        assert.deepEqual(
          error.cause.map(({ scheme }) => scheme),
          ['basic', 'bearer', 'token'],
        );
        return true;
      });
      const twice: oauth.ClientAuth = (_server, _client, body, headers) => {
        body.append('token', 'another');
        headers.set('authorization', `Bearer ${service.token}`);
      };
      await assert.rejects(introspect(token, twice), (error) => {
        assert.ok(error instanceof oauth.ResponseBodyError);
        assert.deepEqual([error.status, error.error], [400, 'invalid_request']);
        return true;
      });
    });
  });
});

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

function assertInactive(response: TestResponse, reason = ''): void {
  assert.deepEqual([response.status, response.text], [200, '{"active":false}'], reason);
}

/** Asserts a problem that is also an error of RFC 6749. */
function assertOAuthError(
  { status, headers, json }: TestResponse,
  code: keyof typeof problems,
  error: string,
  reason = '',
): void {
  const { success, type, title } = json;
  assert.deepEqual(
    { success, type, title, status, code: json.code, error: json.error },
    { success: 0, type: `/errors#${code}`, ...problems[code], code, error },
    reason,
  );
  assert.equal(headers['content-type'], 'application/json; charset=utf-8');
  assert.equal(headers['cache-control'], 'no-store');
}
