// Names of receivers whose name server is slow, or answers only some queries.

import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { resolveName } from '../../src/webhooks/public-lookup.ts';

const ADDRESS = '192.0.2.7';
const IPV4 = 1;
const HEADER_BYTES = 12;

/** Milliseconds until the server answers queries for IPv4 addresses, by the first label of the name. */
const DELAYS: Record<string, number> = { fast: 0, slow: 1_500 };

describe('The name of a receiver', () => {
  it('may resolve slowly, also after others that resolved fast', async () => {
    await using server = await startNameServer(() => true);
    for (let name = 0; name < 5; name++) await resolveName('fast.example', [server.address]);
    assert.deepEqual(await resolveName('slow.example', [server.address]), [{ address: ADDRESS, family: 4 }]);
  });

  it('waits at most one second if the name server does not answer queries for one address family', async () => {
    await using server = await startNameServer((type) => type === IPV4);
    const startedAt = performance.now();
    assert.deepEqual(await resolveName('fast.example', [server.address]), [{ address: ADDRESS, family: 4 }]);
    // The first attempt of a query ends after 3 seconds.
    assert.ok(performance.now() - startedAt < 2_900);
  });
});

/** Answers the queries of these types: those for IPv4 with `ADDRESS`, others without an address. */
async function startNameServer(answers: (type: number) => boolean) {
  const socket = createSocket('udp4');
  socket.on('message', async (query, { port }) => {
    const end = query.indexOf(0, HEADER_BYTES);
    const type = query.readUInt16BE(end + 1);
    if (!answers(type)) return;
    const label = query.toString('latin1', HEADER_BYTES + 1, HEADER_BYTES + 1 + query[HEADER_BYTES]!);
    await sleep(DELAYS[label]);
    socket.send(response(query.subarray(0, end + 5), type === IPV4), port, '127.0.0.1');
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** The response to a query, which ends with its question. */
function response(query: Buffer, hasAddress: boolean): Buffer {
  const header = Buffer.concat([query.subarray(0, 2), Buffer.from('8180', 'hex')]);
  const counts = Buffer.from(['0001', hasAddress ? '0001' : '0000', '0000', '0000'].join(''), 'hex');
  // The name is that of the question (a pointer); the record has no time to live.
  const record = Buffer.concat([
    Buffer.from('c00c00010001000000000004', 'hex'),
    Buffer.from(ADDRESS.split('.').map(Number)),
  ]);
  const question = query.subarray(HEADER_BYTES);
  return Buffer.concat([header, counts, question, ...(hasAddress ? [record] : [])]);
}
