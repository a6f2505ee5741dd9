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
  return `import { writeFileSync } from 'node:fs';
import { suite } from 'node:test';
import { fileURLToPath } from 'node:url';

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
