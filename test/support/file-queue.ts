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
  return `import hooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The runner follows every promise to find the test of an error, which takes an eighth of the processor time. A store
// that Node passes on itself names the test instead.
const { createHook, executionAsyncId } = hooks;
const current = new AsyncLocalStorage();
hooks.executionAsyncId = () => current.getStore() ?? executionAsyncId();
hooks.createHook = ({ init, destroy }) =>
  createHook({
    init(id, type, trigger, resource) {
      init(id, type, current.getStore() ?? trigger, resource);
      if (type !== 'Test') return;
      resource.runInAsyncScope = (run, self, ...args) =>
        AsyncResource.prototype.runInAsyncScope.call(resource, () => current.run(id, () => run.apply(self, args)));
    },
    destroy,
    trackPromises: false,
  });
const { suite } = await import('node:test');
Object.assign(hooks, { createHook, executionAsyncId });

// A library that a file loads may end the process with 0 before the runner reports an error after the end of its test.
let hasError = false;
const note = (error) => {
  hasError = true;
  console.error(error);
};
process.on('unhandledRejection', note).on('uncaughtException', note);
process.on('exit', () => {
  if (hasError) process.exitCode = 1;
});

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
  await suite(path, () => import(path));
  if (${runsOne}) break;
}
clearInterval(alive);
`;
}
