// The memory of a large body is freed as soon as it has been parsed or sent, not only when V8 collects garbage.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeBytes } from '../../src/http/free-bytes.ts';
import { encodeLarge } from '../../src/http/response/encode.ts';
import { LoopbackServer } from '../support/connection/loopback-server.ts';
import { eventually } from '../support/process.ts';

const MIB = 1024 * 1024;

describe('The memory of bytes that are not used again', () => {
  it('is freed immediately, even if they are freed twice', () => {
    const bytes = Buffer.alloc(64 * MIB);
    const before = process.memoryUsage().arrayBuffers;
    freeBytes(bytes);
    freeBytes(bytes);
    assert.ok(before - process.memoryUsage().arrayBuffers >= 64 * MIB);
  });

  it('is left alone if other bytes are in the same buffer', () => {
    const [first, second] = [Buffer.from('first'), Buffer.from('second')];
    assert.equal(first.buffer, second.buffer);
    freeBytes(first);
    assert.equal(second.toString(), 'second');
  });
});

describe('The memory of a large response', () => {
  it('is freed when a client has read it, however late, or has disconnected', async () => {
    // Exceeds what the buffers of the sockets hold.
    const text = 'é'.repeat(8 * MIB);
    const encoded: Buffer[] = [];
    const server = createServer((_, response) => {
      const bytes = encodeLarge(text, response) as Buffer;
      encoded.push(bytes);
      response.end(bytes);
    });
    await using service = await LoopbackServer.listen(server);
    const areFreed = () => encoded.every(({ byteLength }) => byteLength === 0);
    const read = await fetch(service.url);
    await sleep(100);
    assert.equal(areFreed(), false);
    assert.ok((await read.text()) === text);
    await eventually('the memory to be freed', areFreed);
    const unread = await fetch(service.url);
    await unread.body!.cancel();
    await eventually('the memory to be freed', areFreed);
    assert.equal(encoded.length, 2);
  });
});
