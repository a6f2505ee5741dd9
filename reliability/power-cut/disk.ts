// Simulates a disk that loses power. It keeps everything that was synced, and a random subset of the rest: pages of
// files, single sectors of pages, the first few entries created in a directory, or nothing. It loses as much as POSIX
// allows, which is more than common file systems lose.

import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Random } from '../support/random.ts';

/** Unsynced writes that survive: none, all of them (as when a process is killed), or a random subset. */
export const survivals = ['nothing', 'everything', 'pages', 'sectors'] as const;
export type Survival = (typeof survivals)[number];

const UNIT_BYTES = { pages: 4_096, sectors: 512 } as const;

/** Written bytes, or a new file size. */
export type Change = { offset: number; data: Buffer } | { size: number };

/**
 * Ends a sync. If it succeeds, writes made before it started are durable. If it fails, they never become
 * durable: Linux marks the pages clean although it could not write them, still shows them to processes, and
 * skips them at the next sync.
 */
export type EndSync = (isSafe: boolean) => void;

class File {
  readonly #synced = new Content();
  #unsynced: Change[] = [];
  #size = 0;

  /** Size that processes see. */
  get size(): number {
    return this.#size;
  }

  change(change: Change): void {
    this.#unsynced.push(change);
    this.#size = sizeAfter(change, this.#size);
  }

  startSync(): EndSync {
    const covered = new Set(this.#unsynced);
    return (isSafe) => {
      if (isSafe) for (const change of this.#unsynced) if (covered.has(change)) this.#synced.apply(change);
      this.#unsynced = this.#unsynced.filter((change) => !covered.has(change));
    };
  }

  after(survival: Survival, random: Random): Buffer {
    const content = this.#synced.copy();
    for (const change of someOf(this.#unsynced, survival, random)) content.apply(change);
    return content.bytes;
  }
}

type Name = { name: string; node: File | Directory | null };

export class Directory {
  readonly #synced = new Map<string, File | Directory>();
  /** Changes made by one call, such as a rename, are atomic. */
  #unsynced: Name[][] = [];
  /** Entries that processes see. */
  readonly names = new Map<string, File | Directory>();

  change(...names: Name[]): void {
    this.#unsynced.push(names);
    apply(this.names, names);
  }

  startSync(): EndSync {
    const covered = new Set(this.#unsynced);
    return (isSafe) => {
      if (isSafe) for (const names of this.#unsynced) if (covered.has(names)) apply(this.#synced, names);
      this.#unsynced = this.#unsynced.filter((names) => !covered.has(names));
    };
  }

  after(survival: Survival, random: Random): Map<string, File | Directory> {
    const names = new Map(this.#synced);
    const kept = { nothing: 0, everything: this.#unsynced.length, pages: null, sectors: null }[survival];
    for (const change of this.#unsynced.slice(0, kept ?? random.below(this.#unsynced.length + 1)))
      apply(names, change);
    return names;
  }
}

export class Disk {
  readonly #root: string;
  readonly #directory = new Directory();

  /** A disk that contains only the directory `root`. */
  constructor(root: string) {
    this.#root = root;
  }

  find(path: string): File | Directory | undefined {
    let node: File | Directory | undefined = this.#directory;
    for (const name of relative(this.#root, path).split(sep).filter(Boolean))
      node = node instanceof Directory ? node.names.get(name) : undefined;
    return node;
  }

  /** Returns the file at the path, and creates it if it is missing. */
  file(path: string): File {
    const found = this.find(path);
    if (found instanceof File) return found;
    const file = new File();
    this.parent(path).change({ name: basename(path), node: file });
    return file;
  }

  parent(path: string): Directory {
    const parent = this.find(dirname(path));
    if (parent instanceof Directory) return parent;
    throw new Error(`${path} is not in a directory of this disk`);
  }

  /** Writes the files as they are when power returns. */
  restore(folder: string, survival: Survival, random: Random): void {
    restore(this.#directory, folder, survival, random);
  }
}

function restore(directory: Directory, folder: string, survival: Survival, random: Random): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, node] of directory.after(survival, random)) {
    const path = join(folder, name);
    if (node instanceof Directory) restore(node, path, survival, random);
    else writeFileSync(path, node.after(survival, random), { mode: 0o600 });
  }
}

function apply(names: Map<string, File | Directory>, changes: readonly Name[]): void {
  for (const { name, node } of changes) {
    if (node === null) names.delete(name);
    else names.set(name, node);
  }
}

/** Bytes of a file in a growing buffer, which is zeroed beyond the size of the file. */
class Content {
  #buffer = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#size);
  }

  copy(): Content {
    const copy = new Content();
    copy.#buffer = Buffer.from(this.bytes);
    copy.#size = this.#size;
    return copy;
  }

  apply(change: Change): void {
    const size = sizeAfter(change, this.#size);
    if (size > this.#buffer.length) this.#buffer = Buffer.concat([this.#buffer], size * 2);
    if ('data' in change) change.data.copy(this.#buffer, change.offset);
    else this.#buffer.fill(0, size, Math.max(size, this.#size));
    this.#size = size;
  }
}

function sizeAfter(change: Change, size: number): number {
  return 'data' in change ? Math.max(size, change.offset + change.data.length) : change.size;
}

function someOf(changes: readonly Change[], survival: Survival, random: Random): readonly Change[] {
  if (survival === 'nothing') return [];
  return survival === 'everything' ? changes : somePieces(changes, UNIT_BYTES[survival], random);
}

/**
 * Returns the changes that reach the disk: each unit was last written back at a random time, so it has all
 * changes before that time and none after it.
 */
function somePieces(changes: readonly Change[], unitBytes: number, random: Random): Change[] {
  const pieces = changes.flatMap((change) => ('data' in change ? piecesOf(change, unitBytes) : [change]));
  const unitOf = (piece: Change): number => ('data' in piece ? Math.floor(piece.offset / unitBytes) : -1);
  const remaining = new Map<number, number>();
  for (const piece of pieces) remaining.set(unitOf(piece), (remaining.get(unitOf(piece)) ?? 0) + 1);
  const progress = random.next();
  for (const [unit, count] of remaining)
    if (!random.chance(progress)) remaining.set(unit, random.below(count + 1));
  return pieces.filter((piece) => {
    const unit = unitOf(piece);
    remaining.set(unit, remaining.get(unit)! - 1);
    return remaining.get(unit)! >= 0;
  });
}

function piecesOf({ offset, data }: { offset: number; data: Buffer }, unitBytes: number): Change[] {
  const pieces: Change[] = [];
  for (let done = 0; done < data.length; ) {
    const at = offset + done;
    const length = Math.min(data.length - done, unitBytes - (at % unitBytes));
    pieces.push({ offset: at, data: data.subarray(done, done + length) });
    done += length;
  }
  return pieces;
}
