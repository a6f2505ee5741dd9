// Files of tests that share a process: loading the service takes half a second.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';

const FILES_PER_PROCESS = 6;
const PREFIX = 'group-';

export class FileGroups implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'user-group-service-'));
  /** Test files that run the others, each in a suite with its path as the name. */
  readonly entries: readonly string[];

  constructor(files: readonly string[]) {
    this.entries = Array.from({ length: Math.ceil(files.length / FILES_PER_PROCESS) }, (_, index) => {
      const entry = join(this.#folder, `${PREFIX}${index}.test.mjs`);
      const paths = files.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS);
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
