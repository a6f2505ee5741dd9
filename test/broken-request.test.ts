// Contract: a request that is no HTTP, too large or too slow gets the same problem object as any other.

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOnEachDatabase } from './database.ts';
import { assertProblem } from './problem.ts';
import { exchangeOne } from './raw-connection.ts';
import { TestService } from './service.ts';

describeOnEachDatabase('broken requests', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
  });
  after(() => service.end());

  const host = 'Host: a\r\nConnection: close\r\n';
  const requests: Record<string, string | Buffer> = {
    'no HTTP at all': 'hello\r\n\r\n',
    'a TLS handshake': Buffer.from('16030100c8010000c40303', 'hex'),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an unknown method': `BREW /api/user HTTP/1.1\r\n${host}\r\n`,
    'an unknown version': `GET /api/user HTTP/9.1\r\n${host}\r\n`,
    'no Host': 'GET /api/user HTTP/1.1\r\nConnection: close\r\n\r\n',
    'two Hosts': `GET /api/user HTTP/1.1\r\nHost: b\r\n${host}\r\n`,
    'a path that cannot be decoded': `GET /api/%zz HTTP/1.1\r\n${host}\r\n`,
    'a path that is not UTF-8': `GET /v1/user-groups/%ff HTTP/1.1\r\n${host}\r\n`,
    'a header without a colon': `GET /api/user HTTP/1.1\r\n${host}nonsense\r\n\r\n`,
    'a space before the colon': `GET /api/user HTTP/1.1\r\n${host}X : y\r\n\r\n`,
    'a null character in a header': `GET /api/user HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`,
    'a header that goes on in the next line': `GET /api/user HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`,
    'a length that is no number': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: two\r\n\r\n{}`,
    'a negative length': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: -2\r\n\r\n{}`,
    'two lengths': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 1\r\n\r\n{}`,
    'a length and chunks': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    'an unknown transfer coding': `PUT /api/user HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n{}`,
  };
  for (const [what, bytes] of Object.entries(requests)) {
    it(`are 400: ${what}`, async () => {
      assertProblem(await exchangeOne(service, bytes), 'invalid_request');
    });
  }

  it('tell what to do with an id that stands in the path as it is, as curl sends it', async () => {
    for (const id of ['é', '漢字', '%zz']) {
      const bytes = Buffer.from(`GET /v1/user-groups/${id} HTTP/1.1\r\n${host}\r\n`);
      const answer = await exchangeOne(service, bytes);
      assertProblem(answer, 'invalid_request');
      assert.match(answer.json.detail, /percent-encode/);
    }
  });

  it('are 400 where a header stands twice of which only one can count', async () => {
    const twice: Record<string, string[]> = {
      'content-type': ['application/json', 'text/plain'],
      'content-encoding': ['identity', 'gzip'],
      'if-match': ['*', '"other"'],
      origin: [service.url, 'https://evil.example.com'],
    };
    for (const [name, values] of Object.entries(twice)) {
      for (const each of [values, values.toReversed(), values.slice(0, 1).concat(values.slice(0, 1))]) {
        const answer = await service.put({ user_group_id: 'nobody' }, { headers: { [name]: each } });
        assertProblem(answer, 'invalid_request');
        assert.ok(answer.json.detail.includes(name), answer.json.detail);
      }
    }
  });

  it('are 400 where a chunk of the body is broken', async () => {
    const start = `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n`;
    const answer = await exchangeOne(service, `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
    assertProblem(answer, 'invalid_request');
  });

  it('end the connection, so that nothing behind is taken for a request', async () => {
    const body = '{"user_group_id":"smuggled","name":"S"}';
    const hidden =
      `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const request = `POST /api/user HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`;
    assertProblem(await exchangeOne(service, `${request}0\r\n\r\n${hidden}`), 'invalid_request');
    assert.equal((await service.get({ user_group_id: 'smuggled' })).status, 404);
  });

  it('are 431 where the headers or the path are too large', async () => {
    for (const head of [
      `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(16_384)}\r\n\r\n`,
      `GET /${'x'.repeat(16_384)} HTTP/1.1\r\n${host}\r\n`,
      `GET / HTTP/1.1\r\n${host}${'x: y\r\n'.repeat(3_000)}\r\n`,
    ]) {
      assertProblem(await exchangeOne(service, head), 'headers_too_large');
    }
  });

  it('are 413 as soon as too great a length is announced, without waiting for the body', async () => {
    const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Token ${service.token}\r\n`;
    assertProblem(await exchangeOne(service, `${head}Content-Length: 262145\r\n\r\n`), 'body_too_large');
  });
});

describeOnEachDatabase('slow requests', (database) => {
  let slow: TestService;
  before(async () => {
    slow = await TestService.start(database, {
      env: { UGS_HEADERS_TIMEOUT_MS: '200', UGS_REQUEST_TIMEOUT_MS: '400' },
    });
  });
  after(() => slow.end());

  it('are 408 where the headers do not arrive', async () => {
    assertProblem(await exchangeOne(slow, 'GET /api/user HTTP/1.1\r\nHost: a\r\n'), 'request_timeout');
  });

  it('are 408 where the body does not arrive, and nothing is done', async () => {
    const body = '{"user_group_id":"slow","name":"Slow"}';
    for (const length of [`Content-Length: ${body.length + 1}`, 'Transfer-Encoding: chunked']) {
      const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${slow.token}\r\n${length}\r\n\r\n`;
      const sent = length.startsWith('Content') ? body : `${body.length.toString(16)}\r\n${body}\r\n`;
      assertProblem(await exchangeOne(slow, head, sent), 'request_timeout');
    }
    assert.equal((await slow.get({ user_group_id: 'slow' })).status, 404);
  });
});
