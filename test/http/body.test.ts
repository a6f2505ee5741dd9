// Contract: the bodies that are accepted: their size, their media type, and unambiguous JSON only.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { checkMediaType } from '../../src/http/request/media-type.ts';
import { RawConnection } from '../support/connection/raw-connection.ts';
import { sqlite } from '../support/database.ts';
import { CALLS_WITH_BODY, type TestRequest } from '../support/http.ts';
import { pointersOf } from '../support/problem.ts';
import { eventually } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const KIB = 1024;

/** Longer than a request may wait before it sends its last query. */
const LATE_MS = 1_700;

// Bodies are read and refused before any query.
describe('a body', () => {
  const service = TestService.of(sqlite);
  before(async () => {
    await service.get({ user_group_id: 'there', name: 'There' });
  });

  const request = { user_group_id: 'there' };

  /** Returns a valid body of exactly this many bytes. */
  function padded(bytes: number): string {
    return JSON.stringify(request).padEnd(bytes, ' ');
  }

  const chunked: Pick<TestRequest, 'headers'> = {
    headers: { 'content-length': undefined, 'transfer-encoding': 'chunked' },
  };

  /** Returns a request whose valid body has this many chunks of one byte. */
  function inChunks(bytes: number): string {
    const head = `GET /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n`;
    const chunks = Array.from(padded(bytes), (byte) => `1\r\n${byte}\r\n`).join('');
    return `${head}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`;
  }

  it('may have 256 KiB, with Content-Length or chunked', async () => {
    assert.equal((await service.get(padded(256 * KIB))).status, 200);
    assert.equal((await service.get(padded(256 * KIB), chunked)).status, 200);
  });

  it('may have 32,768 chunks, and is rejected with 400 if it has more', async () => {
    const send = async (bytes: number) => {
      const connection = await RawConnection.open(service.url);
      connection.write(inChunks(bytes));
      const answer = await eventually('a response', () => connection.exchange.answers[0] ?? null);
      connection.leave();
      return answer;
    };
    const whole = await send(32_768);
    assert.deepEqual([whole.status, whole.json.user_group?.provided_id], [200, 'there']);
    const refused = await send(32_769);
    assert.deepEqual([refused.status, refused.json.code], [400, 'invalid_request']);
    assert.match(refused.json.detail, /at most 32768 chunks/);
  });

  it('delays the next request of its connection if it has many small chunks', async () => {
    const connection = await RawConnection.open(service.url);
    const startedAt = performance.now();
    for (let sent = 1; sent <= 6; sent++) {
      connection.write(inChunks(2_000));
      await eventually('a response', () => connection.exchange.answers.length === sent);
    }
    assert(performance.now() - startedAt > 5 * 40);
    connection.leave();
  });

  it('is read to its end if its many small chunks arrive one at a time', async () => {
    const connection = await RawConnection.open(service.url);
    const head = `GET /api/user HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n`;
    connection.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    // The connection is paused after 1,024 chunks, when the last of them are not joined and passed on yet.
    const chunks = padded(5 * 1_100).match(/.{5}/g)!;
    connection.write(
      chunks
        .slice(0, 1_023)
        .map((chunk) => `5\r\n${chunk}\r\n`)
        .join(''),
    );
    for (const chunk of chunks.slice(1_023)) {
      await sleep(5);
      connection.write(`5\r\n${chunk}\r\n`);
    }
    connection.write('0\r\n\r\n');
    const answer = await eventually('a response', () => connection.exchange.answers[0] ?? null);
    assert.equal(answer.status, 200);
    connection.leave();
  });

  it('is read no further if an endless number of chunks follows the response', async () => {
    for (const path of ['/healthz', '/v1/forward-auth', '/nowhere', '/console/sign-in']) {
      const connection = await RawConnection.open(service.url);
      connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`);
      await eventually('a response', () => connection.exchange.answers.length === 1);
      connection.write('1\r\n \r\n'.repeat(34_000));
      const ended = connection.ended.then(() => 'ended');
      // Sooner than the timeout of the request.
      assert.equal(await Promise.race([ended, sleep(15_000, 'open', { ref: false })]), 'ended');
    }
  });

  it('may have as many members and elements as fit into properties of 64 KiB', async () => {
    // The bounds on properties leave room for these levels below the array.
    const levels = 14;
    const nested = `${'{"":'.repeat(levels)}1${'}'.repeat(levels)}`;
    for (const value of [nested, '1']) {
      const frame = '{"a":[]}'.length;
      const count = Math.floor((64 * KIB - frame + 1) / (value.length + 1));
      const properties = `{"a":[${Array.from({ length: count }, () => value).join(',')}]}`;
      const response = await service.put(`{"user_group_id":"there","properties":${properties}}`);
      assert.equal(response.status, 200, `${response.json.detail}`);
    }
  });

  it('is rejected with 413 if it has one byte more', async () => {
    for (const bytes of [256 * KIB + 1, 4 * 1024 * KIB]) {
      for (const more of [{}, chunked]) {
        const response = await service.get(padded(bytes), more);
        assert.deepEqual([response.status, response.json.code], [413, 'body_too_large']);
      }
    }
  });

  it('may take longer to arrive than the time limit of the database', async () => {
    const { hostname, port } = new URL(service.url);
    const client = connect(Number(port), hostname).setEncoding('utf8');
    const body = padded(100);
    client.write(
      `GET /api/user HTTP/1.1\r\nHost: test\r\nConnection: close\r\nAuthorization: Token ${service.token}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 50)}`,
    );
    await sleep(LATE_MS);
    client.write(body.slice(50));
    const [response] = await once(client, 'data');
    assert.match(response, /^HTTP\/1\.1 200 OK\r\n/);
  });

  it('may be declared as JSON or have no Content-Type', async () => {
    const types = [
      undefined,
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ];
    for (const type of types) {
      const response = await service.get(request, { headers: { 'content-type': type } });
      assert.equal(response.status, 200, type ?? 'no type');
    }
  });

  it('must be JSON if it has no Content-Type', async () => {
    const response = await service.get('user_group_id=there', { headers: { 'content-type': undefined } });
    assert.deepEqual([response.status, response.json.code], [400, 'invalid_json']);
  });

  it('is rejected with 415 if it is declared as anything else', async () => {
    const types = [
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/merge-patch+json',
      'application/jsonp',
      'application/json; charset=iso-8859-1',
      'application/json; charset=utf8',
      'application/json, text/plain',
      'application/octet-stream',
      'json',
      '*/*',
    ];
    for (const type of types) {
      for (const response of [
        await service.get(request, { headers: { 'content-type': type } }),
        await service.put(request, { headers: { 'content-type': type } }),
        await service.post(request, { headers: { 'content-type': type } }),
      ]) {
        assert.deepEqual([response.status, response.json.code], [415, 'unsupported_media_type'], type);
      }
    }
  });

  it('may be empty whatever its declared type if it is optional, but is rejected with 415 if it is not empty', async () => {
    const path = '/v1/user-groups/there/rotate';
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    for (const more of [{}, chunked.headers])
      for (const body of [undefined, '']) {
        const response = await service.call('POST', path, body, { headers: { ...headers, ...more } });
        assert.equal(response.status, 200, response.text);
      }
    const { status, json } = await service.call('POST', path, '{}', { headers });
    assert.deepEqual([status, json.code], [415, 'unsupported_media_type']);
  });

  it('may be an empty object if the endpoint has no fields, and nothing else', async () => {
    const admin = await service.apiToken({ permission: 'admin' });
    const call = (method: string, path: string, body?: unknown) =>
      service.call(method, path, body, { token: admin.token });
    const { json } = await call('POST', '/v1/api-tokens', { name: 'A', permission: 'resolve' });
    await call('PUT', '/v1/webhook-endpoints/e', {
      url: 'https://receiver.invalid/',
      event_types: ['user_group.created'],
    });
    const withoutFields: [method: string, path: string][] = [
      ['GET', '/v1/user-groups/there'],
      ['GET', '/v1/events'],
      ['POST', '/v1/user-groups/there/suspend'],
      ['POST', '/v1/user-groups/there/resume'],
      ['POST', '/v1/webhook-endpoints/e/test'],
      ['POST', '/v1/webhook-endpoints/e/rotate'],
      ['DELETE', '/v1/webhook-endpoints/e'],
      ['DELETE', '/v1/user-groups/there'],
      ['DELETE', `/v1/api-tokens/${json.api_token.api_token_id}`],
    ];
    for (const [method, path] of withoutFields) {
      for (const body of ['[]', 'null', '{"a":1}', '{', '{}{}', 'x', '""']) {
        const refused = await call(method, path, body);
        assert.deepEqual(
          [refused.status, refused.json.code],
          [400, 'invalid_request'],
          `${method} ${path} ${body}`,
        );
      }
      const { status, text } = await call(method, path, method === 'GET' ? ' { } ' : '{}');
      assert.ok(status < 300, `${method} ${path}: ${text}`);
    }
    await service.get({ user_group_id: 'there', name: 'There' });
  });

  it('is rejected with 415 if it has a content coding, even a correct one', async () => {
    const plain = Buffer.from(JSON.stringify(request));
    for (const [coding, bytes] of [
      ['gzip', gzipSync(plain)],
      ['gzip', plain],
      ['br', plain],
      ['deflate, identity', plain],
      ['unknown', plain],
    ] as const) {
      const response = await service.get(bytes, { headers: { 'content-encoding': coding } });
      assert.deepEqual([response.status, response.json.code], [415, 'unsupported_media_type'], coding);
    }
  });

  it('is required: the error for a GET without a body names the endpoint that works without one', async () => {
    for (const [method, path] of CALLS_WITH_BODY) {
      const response = await service.call(method, path);
      assert.deepEqual([response.status, response.json.code], [400, 'body_missing'], `${method} ${path}`);
      const hint = /clients and proxies drop the body of a GET: use POST \/v1\/user-groups/;
      assert.equal(hint.test(response.json.detail), method === 'GET');
    }
  });

  it('must be an object', async () => {
    for (const body of ['[]', '"text"', '1', 'true', 'null', '[{"user_group_id":"there"}]']) {
      for (const [method, path] of CALLS_WITH_BODY) {
        const response = await service.call(method, path, body);
        assert.deepEqual([response.status, response.json.code], [400, 'invalid_request'], body);
        assert.deepEqual(response.json.errors, [{ pointer: '', detail: 'must be an object' }]);
      }
    }
  });

  describe('that is ambiguous or malformed', () => {
    const bytes = (...parts: (string | number[])[]) =>
      Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
    const start = '{"user_group_id":"ambiguous","name":"A"';
    const cases: Record<string, [body: string | Buffer, pointer: string]> = {
      'a duplicate field': [`${start},"name":"A"}`, '/name'],
      'a duplicate field, once escaped': [`${start},"\\u006eame":"B"}`, '/name'],
      'a duplicate key in properties': [`${start},"properties":{"a":1,"b":2,"a":1}}`, '/properties/a'],
      'a duplicate key in mapping': [`${start},"mapping":{"1":1,"1":2}}`, '/mapping/1'],
      'a deeply nested duplicate key': [
        `${start},"properties":{"l":[0,{"x~y/z":{"k":1,"k":1}}]}}`,
        '/properties/l/1/x~0y~1z/k',
      ],
      '__proto__ as a field': [`${start},"__proto__":{}}`, '/__proto__'],
      'deeply nested __proto__, escaped': [
        `${start},"properties":{"a":[{"\\u005f_proto__":1}]}}`,
        '/properties/a/0/__proto__',
      ],
      'a lone surrogate': [`${start},"properties":{"a":"\\ud83d"}}`, '/properties/a'],
      'a reversed surrogate pair': [`${start},"properties":{"a":"\\ude00\\ud83d"}}`, '/properties/a'],
      'a lone surrogate in a key': [`${start},"properties":{"\\ude00":1}}`, '/properties'],
      'an invalid UTF-8 byte': [bytes(start, ',"properties":{"é":"', [0xff], '"}}'), '/properties/é'],
      'truncated UTF-8': [
        bytes(start, ',"properties":{"a":["', [0xf0, 0x9f, 0x98], '"]}}'),
        '/properties/a/0',
      ],
      'overlong UTF-8': [bytes(start, ',"properties":{"a":"', [0xc0, 0xaf], '"}}'), '/properties/a'],
      'a surrogate encoded in UTF-8': [
        bytes(start, ',"properties":{"a":"', [0xed, 0xa0, 0x80], '"}}'),
        '/properties/a',
      ],
      'a byte order mark': [bytes([0xef, 0xbb, 0xbf], `${start}}`), ''],
      'trailing text': [`${start}} x`, ''],
      'a second body': [`${start}}${start}}`, ''],
      'only white space': [' \n', ''],
      'a trailing comma': [`${start},}`, ''],
      'a missing closing brace': [start, ''],
      'a comment': [`${start}/* */}`, ''],
      'single quotes': ["{'user_group_id':'ambiguous','name':'A'}", ''],
      'an unquoted key': ['{user_group_id:"ambiguous","name":"A"}', ''],
      NaN: [`${start},"properties":{"a":NaN}}`, '/properties/a'],
      'a leading zero': [`${start},"properties":{"a":01}}`, '/properties'],
      'a plus sign': [`${start},"properties":{"a":+1}}`, '/properties/a'],
      'a line break in a string': [`${start},"properties":{"a":"\n"}}`, '/properties/a'],
      'UTF-16': [Buffer.from(`${start}}`, 'utf16le'), ''],
    };
    for (const [what, [body, pointer]] of Object.entries(cases)) {
      it(`is rejected with a pointer by every endpoint: ${what}`, async () => {
        for (const [method, path] of CALLS_WITH_BODY) {
          const response = await service.call(method, path, body);
          assert.deepEqual([response.status, response.json.code], [400, 'invalid_json'], response.text);
          assert.deepEqual(pointersOf(response), [pointer]);
        }
        assert.equal((await service.get({ user_group_id: 'ambiguous' })).status, 404);
      });
    }
  });
});

it('A media type is rejected in less than quadratic time', () => {
  // Takes a millisecond; quadratic time would take 20 seconds.
  const headers = { 'content-type': `application/json${' '.repeat(200_000)}x` };
  const start = performance.now();
  assert.throws(() => checkMediaType({ headers }, ['application/json']), { code: 'unsupported_media_type' });
  assert.ok(performance.now() - start < 2_000);
});
