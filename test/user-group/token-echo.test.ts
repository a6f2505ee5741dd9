// Contract: no error response echoes a token, wherever the request contains it.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { exchangeOne } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import type { TestResponse } from '../support/http.ts';
import { TestService } from '../support/service.ts';

// Errors do not depend on the database.
describe('a misplaced token', () => {
  const service = TestService.of(sqlite);
  let tokens: string[];
  before(async () => {
    const { token } = (await service.get({ user_group_id: 'secret', name: 'S' })).json.user_group;
    const imported = randomBytes(32).toString('hex');
    await service.importGroup({ user_group_id: 'imported', name: 'I', token: imported });
    tokens = [token, service.token, imported];
  });

  /** Sends requests with the token in the wrong place. */
  function requestsWith(token: string): Promise<TestResponse>[] {
    const escaped = token.replaceAll('_', '\\u005f');
    const bodies = [
      { [token]: 1 },
      { user_group_id: 'a', [`x${token}x`]: 1 },
      { user_group_id: 'a', [`\n${token}`]: 1 },
      { user_group_id: 'a', [`\u0001${token}`]: 1 },
      { user_group_id: 'a', mapping: { [token]: null } },
      { user_group_id: 'a', mapping: { a: { [token]: 1 } } },
      { user_group_id: `${token}\n` },
      { user_group_id: [token], name: token.repeat(9), properties: token },
      `{"user_group_id":"a","properties":{"${token}":1,"${token}":2}}`,
      `{"user_group_id":"a","properties":{"a":[{"${escaped}":{"__proto__":1}}]}}`,
      `{"user_group_id":"a","properties":{"${token}":"\\ud800"}}`,
      Buffer.concat([Buffer.from(`{"properties":{"${token}":"`), Buffer.from([0xff]), Buffer.from('"}}')]),
      `{"${escaped}":1}`,
      `"${token}"`,
      token,
      `{}${token}`,
    ];
    const headers = [
      { 'content-type': token },
      { 'content-encoding': token },
      { 'if-match': token },
      { origin: `https://${token}` },
      { authorization: `Token ${token}x` },
      { authorization: `Bearer ${token}` },
      { authorization: [`Token ${token}`, token] },
      { expect: token },
    ];
    const id = { user_group_id: 'missing' };
    return [
      ...bodies.flatMap((body) => [
        service.get(body),
        service.put(body),
        service.post(body),
        service.call('POST', '/v1/resolve', body),
      ]),
      ...headers.map((each) => service.put(id, { headers: each })),
      ...[`/${token}`, `/api/user?${token}`, `/api/user/${token}`, `/%zz${token}`].map((path) =>
        service.call('PUT', path, id),
      ),
      service.post({ current_token: `${token}x` }),
      service.post({ current_token: token, grace_period_seconds: token }),
      service.post({ current_token: token, [token]: 1 }),
      service.post({ user_group_id: token, name: token }),
      service.resolve(`${token} `),
      exchangeOne(service, `GET / HTTP/1.1\r\n${token}\r\n\r\n`),
      exchangeOne(service, `${token} / HTTP/1.1\r\n\r\n`),
      exchangeOne(service, `GET / HTTP/1.1\r\nX: ${token.repeat(400)}\r\n\r\n`),
    ];
  }

  it('is neither in the error response, nor in its headers, nor in the log', async () => {
    for (const token of tokens) {
      for (const response of await Promise.all(requestsWith(token))) {
        assert.equal(response.json.success, 0, response.text);
        const whole = response.text + JSON.stringify(response.headers);
        assert.equal(whole.includes(token.slice(4, 40)), false, whole);
      }
      assert.equal(service.logLines.join('').includes(token.slice(4, 40)), false);
    }
  });
});
