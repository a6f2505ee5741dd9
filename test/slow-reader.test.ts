// Contract: a client that sends requests and takes no answers costs the service little, and not for long.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { processOf, writeScript } from '../rig/program.ts';
import { mostResidentMb, residentMb } from '../rig/resident-memory.ts';
import { sqlite } from './database.ts';
import { assertProblem } from './problem.ts';
import { createApiToken, eventually, Folder, serve } from './process.ts';
import { RawConnection } from './raw-connection.ts';
import { TestService } from './service.ts';

const READERS = 10;
/** Of an answer of more than 100 KB, and so far more than the system takes off the service's hands. */
const REQUESTS = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(1_000);
const GROUPS = 20;
const LISTS = 100;
/** Their lists come to more than a process keeps of them. */
const MANY_READERS = 200;
/** All the lists would come to more than a gigabyte. */
const MOST_MB = 200;
const SETTLE_MS = 3_000;

describe('A client that takes no answers', () => {
  it('has none made for it but the one that it is to take', async () => {
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
    const [, most] = await mostResidentMb(processOf(script), sleep(SETTLE_MS));
    for (const reader of readers) reader.destroy();
    assert.ok(most - before < MOST_MB, `${Math.round(most - before)} MB more`);
  });

  it('keeps lists from being made while much of others is not taken', async (test) => {
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
      const answer = await short();
      if (answer.status === 503) assertProblem(answer, 'overloaded');
      // And not because too many wait to be made.
      return /wait to be read/.test(answer.json.detail);
    };
    await eventually('lists to be refused, and not for a moment only', async () => {
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

  it('is cut off within its time, and who takes them slowly but surely is not', async () => {
    using folder = new Folder();
    const env = { UGS_ANSWER_TIMEOUT_MS: '1000', UGS_MAX_CONNECTIONS: String(READERS + 1) };
    await using service = await serve(folder, { env });
    const taker = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(taker, 'connect');
    let taken = 0;
    taker.on('data', ({ length }: Buffer) => {
      taken += length;
      taker.pause();
      setTimeout(() => taker.resume(), 10);
    });
    taker.write(REQUESTS);
    const readers = await openReaders(service.url, REQUESTS);
    await eventually('connections for others', () => answersOneMore(service.url));
    for (const reader of readers) reader.destroy();
    const soFar = taken;
    await eventually('more to be taken', () => taken > soFar);
    taker.destroy();
  });
});

/** Each sends its requests and reads nothing. */
async function openReaders(url: string, requests: string, count = READERS): Promise<Socket[]> {
  const readers = Array.from({ length: count }, () => connect(Number(new URL(url).port), '127.0.0.1'));
  await Promise.all(readers.map((reader) => once(reader, 'connect')));
  for (const reader of readers) reader.on('error', () => {}).write(requests);
  return readers;
}

/** Whether the service has a connection to spare. */
async function answersOneMore(url: string): Promise<boolean> {
  const connection = await RawConnection.open(url);
  connection.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return (await connection.finish()).answers[0]?.status === 200;
}
