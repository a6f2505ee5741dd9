// Queue of test files that several processes run in order, because the runner sorts the names of its files.
// Each process takes the next file after finishing one, so all end at about the same time. Most files load
// the whole service, which takes half a second, once per process.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const PROCESS = 'process-';
const TAKEN = '.taken';

export class FileQueue implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'user-group-service-'));
  /** Test files that run the others, each in a suite named after its path. */
  readonly entries: readonly string[];

  /** Creates the queue. With as many processes as files, each process runs one. */
  constructor(files: readonly string[], processes: number) {
    const text = textOfEntry(
      files.map((file) => resolve(file)),
      processes >= files.length,
    );
    this.entries = Array.from({ length: Math.min(processes, files.length) }, (_, index) => {
      const entry = join(this.#folder, `${PROCESS}${index}.test.mjs`);
      writeFileSync(entry, text);
      return entry;
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function isQueueEntry(path: string): boolean {
  return basename(path).startsWith(PROCESS);
}

/** Returns the absolute paths of the files that the process of the entry has run or begun. */
export function filesTakenBy(entry: string): string[] {
  const folder = dirname(entry);
  return readdirSync(folder)
    .filter((name) => name.endsWith(TAKEN))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .filter((taken) => taken.entry === entry)
    .map((taken) => taken.path);
}

/**
 * Returns the code of an entry. A process takes a file by creating another file, which must not exist yet.
 */
function textOfEntry(paths: readonly string[], runsOne: boolean): string {
  return `import hooks, { AsyncResource } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The runner follows every promise, which takes an eighth of the time. It needs this only to find the suite of the tests
// of a file while the file is loaded.
const { createHook } = hooks;
let everything, noPromises;
hooks.createHook = (callbacks) => {
  noPromises = createHook({ ...callbacks, trackPromises: false });
  return (everything = createHook(callbacks));
};
const { suite } = await import('node:test');
hooks.createHook = createHook;
const load = (path) => {
  noPromises.disable();
  everything.enable();
  return import(path).finally(() => {
    everything.disable();
    noPromises.enable();
  });
};
const outside = new AsyncResource('files');
// The runner knows neither the test nor the file of such an error.
let current = '';
process.on('unhandledRejection', (error) => console.error(current, error));

const entry = fileURLToPath(import.meta.url);
const isTaken = (path, place) => {
  try {
    const taken = new URL(place + '${TAKEN}', import.meta.url);
    writeFileSync(taken, JSON.stringify({ entry, path }), { flag: 'wx' });
    return false;
  } catch (error) {
    if (error.code === 'EEXIST') return true;
    throw error;
  }
};
// Keeps the process alive while a test waits for a timer that does not.
const alive = setInterval(() => {}, 60_000);
for (const [place, path] of ${JSON.stringify(paths)}.entries()) {
  if (isTaken(path, place)) continue;
  current = path;
  await outside.runInAsyncScope(() => suite(path, () => load(path)));
  if (${runsOne}) break;
}
clearInterval(alive);
`;
}
