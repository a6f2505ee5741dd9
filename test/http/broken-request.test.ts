// Contract: a request that is not HTTP, too large or too slow gets the same problem object as any other.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exchangeOne, RawConnection } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { TestService } from '../support/service.ts';

// Malformed requests are refused before any query.
describe('a malformed request', () => {
  const service = TestService.of(sqlite);

  const host = 'Host: a\r\nConnection: close\r\n';
  const requests: Record<string, string | Buffer> = {
    'not HTTP': 'hello\r\n\r\n',
    'a TLS handshake': Buffer.from('16030100c8010000c40303', 'hex'),
    'the HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an unknown version': `GET /api/user HTTP/9.1\r\n${host}\r\n`,
    'a missing Host': 'GET /api/user HTTP/1.1\r\nConnection: close\r\n\r\n',
    'two Host headers': `GET /api/user HTTP/1.1\r\nHost: b\r\n${host}\r\n`,
    'a path that cannot be decoded': `GET /api/%zz HTTP/1.1\r\n${host}\r\n`,
    'a path that is not UTF-8': `GET /v1/user-groups/%ff HTTP/1.1\r\n${host}\r\n`,
    'a header without a colon': `GET /api/user HTTP/1.1\r\n${host}nonsense\r\n\r\n`,
    'a space before the colon': `GET /api/user HTTP/1.1\r\n${host}X : y\r\n\r\n`,
    'a null character in a header': `GET /api/user HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`,
    'a header folded onto the next line': `GET /api/user HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`,
    'a Content-Length that is not a number': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: two\r\n\r\n{}`,
    'a negative Content-Length': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: -2\r\n\r\n{}`,
    'two Content-Lengths': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 1\r\n\r\n{}`,
    'Content-Length and chunked encoding': `PUT /api/user HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    'an unknown transfer coding': `PUT /api/user HTTP/1.1\r\n${host}Transfer-Encoding: gzip\r\n\r\n{}`,
  };
  for (const [what, bytes] of Object.entries(requests)) {
    it(`gets 400: ${what}`, async () => {
      assertProblem(await exchangeOne(service, bytes), 'invalid_request');
    });
  }

  it('gets a hint to percent-encode if the path has an unencoded id, as curl sends it', async () => {
    for (const id of ['é', '漢字', '%zz']) {
      const bytes = Buffer.from(`GET /v1/user-groups/${id} HTTP/1.1\r\n${host}\r\n`);
      const response = await exchangeOne(service, bytes);
      assertProblem(response, 'invalid_request');
      assert.match(response.json.detail, /percent-encode/);
    }
  });

  it('gets 400 if a single-valued header is repeated', async () => {
    const repeated: Record<string, string[]> = {
      'content-type': ['application/json', 'text/plain'],
      'content-encoding': ['identity', 'gzip'],
      'if-match': ['*', '"other"'],
      origin: [service.url, 'https://evil.example.com'],
    };
    for (const [name, values] of Object.entries(repeated)) {
      for (const each of [values, values.toReversed(), values.slice(0, 1).concat(values.slice(0, 1))]) {
        const response = await service.put({ user_group_id: 'missing' }, { headers: { [name]: each } });
        assertProblem(response, 'invalid_request');
        assert.ok(response.json.detail.includes(name), response.json.detail);
      }
    }
  });

  it('gets 400 if a chunk of the body is malformed', async () => {
    const start = `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n`;
    const response = await exchangeOne(service, `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
    assertProblem(response, 'invalid_request');
  });

  it('closes the connection, so that the bytes after it are not parsed as a request', async () => {
    const body = '{"user_group_id":"smuggled","name":"S"}';
    const hidden =
      `GET /api/user HTTP/1.1\r\n${host}Authorization: Token ${service.token}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const request = `POST /api/user HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n`;
    assertProblem(await exchangeOne(service, `${request}0\r\n\r\n${hidden}`), 'invalid_request');
    assert.equal((await service.get({ user_group_id: 'smuggled' })).status, 404);
  });

  it('gets 431 if the headers or the path are too large', async () => {
    for (const head of [
      `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(16_384)}\r\n\r\n`,
      `GET /${'x'.repeat(16_384)} HTTP/1.1\r\n${host}\r\n`,
      `GET / HTTP/1.1\r\n${host}${'x: y\r\n'.repeat(3_000)}\r\n`,
    ]) {
      assertProblem(await exchangeOne(service, head), 'headers_too_large');
    }
  });

  it('gets 431 with the limits in the detail if it has too many header fields', async () => {
    const request = (fields: number) =>
      `GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'a:b\r\n'.repeat(fields - 2)}\r\n`;
    assert.equal((await exchangeOne(service, request(1_000))).status, 200);
    const response = await exchangeOne(service, request(1_001));
    assertProblem(response, 'headers_too_large');
    assert.match(response.json.detail, /at most 16384 bytes and 1000 fields/);
  });

  it('gets 501 if the method is well-formed but unknown', async () => {
    for (const method of ['BREW', 'get', 'GETS', 'M-SEARCHES', 'X', '!#$', 'DESCRIBE']) {
      const response = await exchangeOne(service, `${method} /api/user HTTP/1.1\r\n${host}\r\n`);
      assertProblem(response, 'not_implemented');
    }
  });

  it('gets 413 for a Content-Length beyond the limit, before the body arrives', async () => {
    const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Token ${service.token}\r\n`;
    assertProblem(await exchangeOne(service, `${head}Content-Length: 262145\r\n\r\n`), 'body_too_large');
  });
});

describe('a slow request', () => {
  const slow = TestService.of(sqlite, {
    env: { UGS_HEADERS_TIMEOUT_MS: '200', UGS_REQUEST_TIMEOUT_MS: '400' },
  });

  it('gets 408 if the headers do not arrive', async () => {
    assertProblem(await exchangeOne(slow, 'GET /api/user HTTP/1.1\r\nHost: a\r\n'), 'request_timeout');
  });

  it('gets no response that would answer a later request if nothing arrives', async () => {
    const unused = await RawConnection.open(slow.url);
    const { answers, rest, isEnded } = await unused.finish();
    assert.deepEqual({ answers, rest, isEnded }, { answers: [], rest: '', isEnded: true });
  });

  it('gets 408 and changes nothing if the body does not arrive', async () => {
    const body = '{"user_group_id":"slow","name":"Slow"}';
    for (const length of [`Content-Length: ${body.length + 1}`, 'Transfer-Encoding: chunked']) {
      const head = `GET /api/user HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${slow.token}\r\n${length}\r\n\r\n`;
      const sent = length.startsWith('Content') ? body : `${body.length.toString(16)}\r\n${body}\r\n`;
      assertProblem(await exchangeOne(slow, head, sent), 'request_timeout');
    }
    assert.equal((await slow.get({ user_group_id: 'slow' })).status, 404);
  });
});
