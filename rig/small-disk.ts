// A file system in memory that is soon full, mounted on a folder. Takes the rights of root.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Folder } from '../test/process.ts';

const MEGABYTE = 1_048_576;

export class SmallDisk implements Disposable {
  readonly #path: string;
  readonly #ballast: string;

  constructor(path: string, megabytes: number) {
    mkdirSync(path, { mode: 0o700 });
    const size = `size=${megabytes}m,mode=0700`;
    const { status, stderr } = spawnSync('mount', [
      '-t',
      'tmpfs',
      '-o',
      size,
      'user-group-service-rig',
      path,
    ]);
    if (status !== 0) throw new Error(`no file system can be mounted here: ${stderr}`);
    this.#path = path;
    this.#ballast = join(path, 'ballast');
  }

  /** Takes so much of its room away. */
  load(megabytes: number): void {
    writeFileSync(this.#ballast, Buffer.alloc(megabytes * MEGABYTE));
  }

  /** Gives it back. */
  unload(): void {
    rmSync(this.#ballast);
  }

  [Symbol.dispose](): void {
    // Lazily: the service may still run on it.
    spawnSync('umount', ['--lazy', this.#path]);
  }
}

export function canMount(): boolean {
  using folder = new Folder();
  try {
    using _disk = new SmallDisk(folder.join('disk'), 1);
    return true;
  } catch {
    return false;
  }
}
