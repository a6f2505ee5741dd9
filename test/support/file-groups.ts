// Entries of the test runner, in their order: the runner sorts the names of its files. Files that share one share a
// process, because loading the service takes half a second.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const PREFIX = 'group-';

export class FileGroups implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'user-group-service-'));
  /** Test files that run the others, each in a suite with its path as the name. */
  readonly entries: readonly string[];

  constructor(files: readonly string[], filesPerProcess: number) {
    this.entries = Array.from({ length: Math.ceil(files.length / filesPerProcess) }, (_, index) => {
      const entry = join(this.#folder, `${PREFIX}${String(index).padStart(3, '0')}.test.mjs`);
      const paths = files.slice(index * filesPerProcess, (index + 1) * filesPerProcess);
      writeFileSync(entry, textOfEntry(paths.map((path) => resolve(path))));
      return entry;
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export function isFileGroup(path: string): boolean {
  return basename(path).startsWith(PREFIX);
}

/** Their absolute paths. */
export function filesInGroup(entry: string): string[] {
  const [paths] = /\[.*\]/.exec(readFileSync(entry, 'utf8'))!;
  return JSON.parse(paths);
}

function textOfEntry(paths: readonly string[]): string {
  return `import { suite } from 'node:test';
for (const path of ${JSON.stringify(paths)}) suite(path, () => import(path));
`;
}
