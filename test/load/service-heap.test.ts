// Contract: garbage does not determine the memory of a service. With the defaults of V8, the heap would grow
// to more than six times what is in use; with those of the service, to about three times, part of which is
// the young generation.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Folder, serve } from '../support/process.ts';

const execute = promisify(execFile);
const YOUNG_GENERATION = `${import.meta.dirname}/../support/young-generation.ts`;
const GARBAGE = pathToFileURL(`${import.meta.dirname}/../support/garbage.ts`).href;
/** Includes a margin for collections that start late on a busy machine. */
const MAX_GROWTH = 4.5;

it(`the heap of a service grows to at most ${MAX_GROWTH} times what is in use`, async () => {
  using folder = new Folder();
  await using service = await serve(folder, { env: { NODE_OPTIONS: `--import=${GARBAGE}` } });
  service.signal('SIGUSR2');
  const [, growth] = await service.says(/^heap: (\S+) times$/m);
  assert.ok(Number(growth) <= MAX_GROWTH, `${growth} times`);
});

it('a thread of a service has its own limit of the young generation, not that of the main thread', async () => {
  const { stdout } = await execute(process.execPath, ['--max-semi-space-size=16', YOUNG_GENERATION, '6']);
  assert.ok(Number(stdout) > 0 && Number(stdout) <= 6, `${stdout} MB`);
});
