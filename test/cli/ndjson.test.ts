// Lines do not depend on how the input is split into chunks, and a long line needs no memory.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ndjsonBatches } from '../../src/commands/ndjson.ts';

const NO_LIMITS = { lineBytes: 1_000, maxLines: 1_000, maxBytes: 1_000_000 };

async function* chunksOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of offsets.slice(1).entries()) yield bytes.subarray(offsets[index], end);
}

async function linesFrom(text: string, cuts: readonly number[] = [], limits = NO_LIMITS) {
  const batches: [number, string | null, number][][] = [];
  for await (const lines of ndjsonBatches(chunksOf(Buffer.from(text), cuts), limits))
    batches.push(lines.map(({ number, bytes, end }) => [number, bytes?.toString() ?? null, end]));
  return batches;
}

describe('lines', () => {
  it('have their numbers and end offsets; empty lines and the byte order mark of the file are omitted', async () => {
    assert.deepEqual(await linesFrom('a\n\nbc\r\n\r\nd'), [
      [
        [1, 'a', 2],
        [3, 'bc', 7],
        [5, 'd', 10],
      ],
    ]);
    assert.deepEqual(await linesFrom('\ufeffa\n\ufeffb'), [
      [
        [1, 'a', 5],
        [2, '\ufeffb', 9],
      ],
    ]);
    assert.deepEqual(await linesFrom(''), []);
    assert.deepEqual(await linesFrom('\n\n'), []);
  });

  it('are the same wherever the input is split', async () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r', ' '), maxLength: 60 });
    const property = fc.asyncProperty(text, fc.array(fc.nat(), { maxLength: 8 }), async (input, cuts) => {
      const expected = input
        .split('\n')
        .map((line, index) => [index + 1, line.replace(/\r$/, '')] as const)
        .filter(([, line]) => line !== '');
      const lines = (await linesFrom(input, cuts)).flat();
      assert.deepEqual(
        lines.map(([number, line]) => [number, line]),
        expected,
      );
      for (const [, line, end] of lines)
        assert.ok(Buffer.from(input).subarray(0, end).toString().trimEnd().endsWith(line!.trimEnd()));
    });
    await fc.assert(property, { numRuns: 500 });
  });

  it('that are too long are reported without their bytes, wherever they are split', async () => {
    const limits = { ...NO_LIMITS, lineBytes: 5 };
    for (const cuts of [[], [3], [1, 2, 3, 4, 5, 6, 7, 8, 9]]) {
      const lines = (await linesFrom('12345\n123456\nend', cuts, limits)).flat();
      assert.deepEqual(lines, [
        [1, '12345', 6],
        [2, null, 13],
        [3, 'end', 16],
      ]);
    }
  });

  it('are batched by number of lines and bytes', async () => {
    const sizes = async (limits: typeof NO_LIMITS) =>
      (await linesFrom('aaa\nbbb\nccc\nddd\neee\n', [], limits)).map((lines) => lines.length);
    assert.deepEqual(await sizes({ ...NO_LIMITS, maxLines: 2 }), [2, 2, 1]);
    assert.deepEqual(await sizes({ ...NO_LIMITS, maxBytes: 9 }), [3, 2]);
  });

  it('buffer no more than the limit of an endless line', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    async function* endless(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 512; count++) yield Buffer.from(chunk);
    }
    const before = process.memoryUsage().rss;
    const lines = [];
    for await (const batch of ndjsonBatches(endless(), NO_LIMITS)) lines.push(...batch);
    assert.deepEqual(lines, [{ number: 1, bytes: null, end: 512 * chunk.length }]);
    assert.ok(process.memoryUsage().rss - before < 256 * chunk.length);
  });
});
