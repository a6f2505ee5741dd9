// A small in-memory file system mounted on a folder. Requires root privileges.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Folder } from '../../test/support/process.ts';

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
    if (status !== 0) throw new Error(`cannot mount a file system: ${stderr}`);
    this.#path = path;
    this.#ballast = join(path, 'ballast');
  }

  /** Occupies part of the disk's space. */
  load(megabytes: number): void {
    writeFileSync(this.#ballast, Buffer.alloc(megabytes * MEGABYTE));
  }

  /** Releases the space. */
  unload(): void {
    rmSync(this.#ballast);
  }

  makeReadOnly(): void {
    const { status, stderr } = spawnSync('mount', ['-o', 'remount,ro', this.#path]);
    if (status !== 0) throw new Error(`cannot mount it read-only: ${stderr}`);
  }

  [Symbol.dispose](): void {
    // Unmounts lazily, because the service may still be using the disk.
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
