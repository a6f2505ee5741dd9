// Contract: a client that sends requests and reads no responses costs the service little memory, for a
// limited time.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { QUIET } from '../../reliability/support/program.ts';
import { peakResidentMb, residentMb } from '../../reliability/support/resident-memory.ts';
import { DatabaseTokenIssuer } from '../../reliability/support/token-issuer.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { createApiToken, eventually, Folder, serve, WITHOUT_FAILURE_LIMIT } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const READERS = 10;
/** Each response has more than 100 KB, so all of them far exceed the socket buffers. */
const REQUESTS = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000);
const GROUPS = 20;
const LISTS = 100;
/** Readers whose lists exceed the buffer limit of a process. */
const MANY_READERS = 200;
/** Far below the size of all the lists together, which exceeds a gigabyte. */
const MAX_GROWTH_MB = 200;
const SETTLE_MS = 3_000;

describe('A client that reads no responses', () => {
  it('has at most one response buffered', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    await using service = await serve(folder);
    for (let group = 0; group < GROUPS; group++) {
      const body = { user_group_id: `${group}`, name: 'Large', properties: { text: 'x'.repeat(60_000) } };
      await service.call(token, 'GET', '/api/user', body);
    }
    const before = residentMb(service.id);
    const list = `GET /v1/user-groups HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`;
    const readers = await openReaders(service.url, list.repeat(LISTS));
    const [, most] = await peakResidentMb(service.id, sleep(SETTLE_MS));
    for (const reader of readers) reader.destroy();
    assert.ok(most - before < MAX_GROWTH_MB, `${Math.round(most - before)} MB more`);
  });

  it('makes the service reject lists while many responses are unread', async (test) => {
    const service = await TestService.start(sqlite, { returnsOverloaded: true });
    test.after(() => service.end());
    for (let group = 0; group < GROUPS; group++) {
      const body = { user_group_id: `${group}`, name: 'Large', properties: { text: 'x'.repeat(60_000) } };
      await service.get(body);
    }
    const list = `GET /v1/user-groups HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${service.token}\r\n\r\n`;
    const short = () => service.call('GET', '/v1/user-groups?limit=1');
    const readers: Socket[] = [];
    const isRefused = async () => {
      const response = await short();
      if (response.status === 503) assertProblem(response, 'overloaded');
      // Distinguishes unread responses from a full queue.
      return /responses to this workspace are waiting for their callers/.test(response.json.detail);
    };
    await eventually('lists to be rejected persistently', async () => {
      if (readers.length < MANY_READERS)
        readers.push(...(await openReaders(service.url, list.repeat(LISTS))));
      await sleep(SETTLE_MS / 10);
      if (!(await isRefused())) return false;
      await sleep(SETTLE_MS);
      return isRefused();
    });
    assert.equal((await service.get({ user_group_id: '0' })).status, 200);
    const large = { user_group_id: 'new', name: 'Large', properties: { text: 'x'.repeat(60_000) } };
    const [created, repeated] = [
      await service.call('POST', '/v1/user-groups', large),
      await service.call('POST', '/v1/user-groups', large),
    ];
    assert.deepEqual(
      [created.status, repeated.status],
      [201, 503],
      'a change is not refused after it was made',
    );
    for (const reader of readers) reader.destroy();
    await eventually('a list', async () => (await short()).status === 200);
  });

  it('is disconnected after the timeout, and one that reads slowly but steadily is not', async () => {
    using folder = new Folder();
    const env = { UGS_ANSWER_TIMEOUT_MS: '1000', ...WITHOUT_FAILURE_LIMIT };
    await using service = await serve(folder, { env });
    const slowReader = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(slowReader, 'connect');
    let readBytes = 0;
    slowReader.on('data', ({ length }: Buffer) => {
      readBytes += length;
      slowReader.pause();
      setTimeout(() => slowReader.resume(), 10);
    });
    slowReader.write(REQUESTS);
    const readers = await openReaders(service.url, REQUESTS);
    await eventually('the readers to be disconnected', () => {
      // A client that does not read notices only when it writes.
      for (const reader of readers) reader.write('\r\n');
      return readers.every(({ destroyed }) => destroyed);
    });
    const readBefore = readBytes;
    await eventually('more to be read', () => readBytes > readBefore);
    slowReader.destroy();
  });
});

/**
 * Enough readers to exceed the share of a workspace, yet few enough to fill their socket buffers, of up to 10
 * MB each, quickly.
 */
const RESOLVING_READERS = 160;
/** Data sources that are almost as large as a resolution may be. */
const LARGE_SOURCES = 16;
/**
 * Exceeds what a socket buffer holds; all of them together are far fewer than may wait on all connections.
 */
const RESOLVES = 60;
/** All the resolutions together would take 4 GB; those that were sent or refused are garbage for a while. */
const MAX_RESOLVING_GROWTH_MB = 500;
const ANSWER_WITHIN_MS = 5_000;

describeOnEachDatabase('A workspace that reads no responses', (database) => {
  it('gets its share of the memory, and leaves the others theirs', async () => {
    using folder = new Folder();
    await using created = await database.create();
    await using issuer = await DatabaseTokenIssuer.open(created);
    const hog = (await issuer.create('hog', 'Customer', 'admin')).token;
    const other = (await issuer.create('other', 'Customer', 'admin')).token;
    await using service = await serve(folder, {
      env: { ...created.env, ...QUIET, UGS_ANSWER_TIMEOUT_MS: '300000' },
    });
    const text = 'x'.repeat(15_900);
    for (let index = 0; index < LARGE_SOURCES; index++) {
      const source = { schema_id: `${index}`, name: 'Large', attributes: { text } };
      await service.call(hog, 'PUT', `/v1/data-sources/${index}`, source);
      const schema = { name: 'S', default_data_source: `${index}` };
      await service.call(hog, 'PUT', `/v1/schemas/${index}`, schema);
    }
    const tokenOf = async (apiToken: string): Promise<string> => {
      const body = { user_group_id: 'a', name: 'A' };
      return (await service.call(apiToken, 'POST', '/v1/user-groups', body)).json.user_group.token;
    };
    const resolveAs = (apiToken: string, token: string) =>
      service.call(apiToken, 'POST', '/v1/resolve', { token });
    const [hogToken, otherToken] = [await tokenOf(hog), await tokenOf(other)];
    const large = await resolveAs(hog, hogToken);
    assert.ok(large.text.length > 250_000, String(large.text.length));
    const post = (path: string, type: string, body: string) =>
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${hog}\r\nContent-Type: ${type}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`;
    const resolves = post('/v1/resolve', 'application/json', JSON.stringify({ token: hogToken }));
    const introspects = post('/oauth/introspect', 'application/x-www-form-urlencoded', `token=${hogToken}`);
    const before = residentMb(service.id);
    const latencies: number[] = [];
    const statuses: number[] = [];
    const attack = async (): Promise<Socket[]> => {
      const half = RESOLVING_READERS / 2;
      const readers = [
        ...(await openReaders(service.url, resolves.repeat(RESOLVES), half)),
        ...(await openReaders(service.url, introspects.repeat(RESOLVES), half)),
      ];
      const until = performance.now() + 2 * SETTLE_MS;
      while (performance.now() < until) {
        const startedAt = performance.now();
        const { status } = await resolveAs(other, otherToken);
        statuses.push(status);
        latencies.push(performance.now() - startedAt);
        await sleep(10);
      }
      return readers;
    };
    const [readers, most] = await peakResidentMb(service.id, attack());
    assert.ok(most - before < MAX_RESOLVING_GROWTH_MB, `${Math.round(most - before)} MB more`);
    const served = statuses.filter((status) => status === 200).length;
    // A machine that also runs other tests may be too slow for a database query.
    assert.ok(served >= 0.9 * statuses.length, `${served} of ${statuses.length} served`);
    const slowest = Math.max(...latencies);
    assert.ok(slowest < ANSWER_WITHIN_MS, `${Math.round(slowest)} ms`);
    await eventually('a refusal', async () => {
      // Fills the room that requests refused for other reasons have left in the socket buffers.
      for (const reader of readers) reader.write(resolves);
      const { status, text: refused } = await resolveAs(hog, hogToken);
      return status === 503 && refused.includes('responses to this workspace');
    });
    assert.equal((await resolveAs(other, otherToken)).status, 200);
    for (const reader of readers) reader.destroy();
    await eventually('a resolve', async () => (await resolveAs(hog, hogToken)).status === 200);
  });
});

/** Opens connections that send the requests and read nothing. */
async function openReaders(url: string, requests: string, count = READERS): Promise<Socket[]> {
  const readers = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  await Promise.all(readers.map((reader) => once(reader, 'connect')));
  for (const reader of readers) reader.on('error', () => {}).write(requests);
  return readers;
}
