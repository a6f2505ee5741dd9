// Contract: a client that sends requests and reads no responses costs the service little memory, for a limited time.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processOf, writeScript } from '../../reliability/program.ts';
import { peakResidentMb, residentMb } from '../../reliability/resident-memory.ts';
import { sqlite } from '../support/database.ts';
import { assertProblem } from '../support/problem.ts';
import { createApiToken, eventually, Folder, serve } from '../support/process.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { TestService } from '../support/service.ts';

const READERS = 10;
/** Each response has more than 100 KB, so all of them far exceed the socket buffers. */
const REQUESTS = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000);
const GROUPS = 20;
const LISTS = 100;
/** Their lists exceed the buffer limit of a process. */
const MANY_READERS = 200;
/** All the lists together would have more than a gigabyte. */
const MAX_GROWTH_MB = 200;
const SETTLE_MS = 3_000;

describe('A client that reads no responses', () => {
  it('has at most one response buffered', async () => {
    using folder = new Folder();
    const { token } = await createApiToken(folder);
    const script = writeScript(folder.join('program'));
    await using service = await serve(folder, { command: script });
    for (let group = 0; group < GROUPS; group++) {
      const body = { user_group_id: `${group}`, name: 'Large', properties: { text: 'x'.repeat(60_000) } };
      await service.call(token, 'GET', '/api/user', body);
    }
    const before = residentMb(processOf(script));
    const list = `GET /v1/user-groups HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${token}\r\n\r\n`;
    const readers = await openReaders(service.url, list.repeat(LISTS));
    const [, most] = await peakResidentMb(processOf(script), sleep(SETTLE_MS));
    for (const reader of readers) reader.destroy();
    assert.ok(most - before < MAX_GROWTH_MB, `${Math.round(most - before)} MB more`);
  });

  it('makes the service reject lists while many responses are unread', async (test) => {
    const service = await TestService.start(sqlite);
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
    for (const reader of readers) reader.destroy();
    await eventually('a list', async () => (await short()).status === 200);
  });

  it('is disconnected after the timeout, and one that reads slowly but steadily is not', async () => {
    using folder = new Folder();
    const env = { UGS_ANSWER_TIMEOUT_MS: '1000', UGS_MAX_CONNECTIONS: String(READERS + 1) };
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
    await eventually('connections for other clients', () => acceptsConnection(service.url));
    for (const reader of readers) reader.destroy();
    const readBefore = readBytes;
    await eventually('more to be read', () => readBytes > readBefore);
    slowReader.destroy();
  });
});

/** Opens connections that send the requests and read nothing. */
async function openReaders(url: string, requests: string, count = READERS): Promise<Socket[]> {
  const readers = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  await Promise.all(readers.map((reader) => once(reader, 'connect')));
  for (const reader of readers) reader.on('error', () => {}).write(requests);
  return readers;
}

/** Whether the service accepts another connection. */
async function acceptsConnection(url: string): Promise<boolean> {
  const connection = await RawConnection.open(url);
  connection.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return (await connection.finish()).answers[0]?.status === 200;
}
