// A disk that loses its power. It keeps what was synced; of everything else it keeps what chance wills: pages of
// files, single sectors of pages, the first of the names that were made in a directory, or nothing. It is as unkind
// as POSIX allows, which is less kind than the file systems that we know.

import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import type { Random } from './random.ts';

/** What of the unsynced is kept: nothing, all of it (as when a process is killed), or what chance wills. */
export const survivals = ['nothing', 'everything', 'pages', 'sectors'] as const;
export type Survival = (typeof survivals)[number];

const UNIT_BYTES = { pages: 4_096, sectors: 512 } as const;

/** Bytes that are written, or a new size. */
export type Change = { offset: number; data: Buffer } | { size: number };

/**
 * What was written when a sync began is safe when it ends. Where it ends with an error it never will be: Linux takes
 * for written what it could not write, shows it to processes, and has nothing left to do at the next sync.
 */
export type EndSync = (isSafe: boolean) => void;

export class File {
  readonly #synced = new Content();
  #unsynced: Change[] = [];
  #size = 0;

  /** As processes see it. */
  get size(): number {
    return this.#size;
  }

  change(change: Change): void {
    this.#unsynced.push(change);
    this.#size = sizeAfter(change, this.#size);
  }

  beginSync(): EndSync {
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
  /** What is done at one time, such as a rename, is kept whole or not at all. */
  #unsynced: Name[][] = [];
  /** As processes see it. */
  readonly names = new Map<string, File | Directory>();

  change(...names: Name[]): void {
    this.#unsynced.push(names);
    apply(this.names, names);
  }

  beginSync(): EndSync {
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

  /** A disk that holds nothing but the directory `root`. */
  constructor(root: string) {
    this.#root = root;
  }

  find(path: string): File | Directory | undefined {
    let node: File | Directory | undefined = this.#directory;
    for (const name of relative(this.#root, path).split(sep).filter(Boolean))
      node = node instanceof Directory ? node.names.get(name) : undefined;
    return node;
  }

  /** The file at the path, which is made where it is missing. */
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

  /** Writes what is there when the power is back. */
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

/** The bytes of a file, in room that grows. Beyond its size the room holds zeros. */
class Content {
  #room = Buffer.alloc(0);
  #size = 0;

  get bytes(): Buffer {
    return this.#room.subarray(0, this.#size);
  }

  copy(): Content {
    const copy = new Content();
    copy.#room = Buffer.from(this.bytes);
    copy.#size = this.#size;
    return copy;
  }

  apply(change: Change): void {
    const size = sizeAfter(change, this.#size);
    if (size > this.#room.length) this.#room = Buffer.concat([this.#room], size * 2);
    if ('data' in change) change.data.copy(this.#room, change.offset);
    else this.#room.fill(0, size, Math.max(size, this.#size));
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

/** A unit of the disk was last written back at some time: it has its changes until then, and none of the later. */
function somePieces(changes: readonly Change[], unitBytes: number, random: Random): Change[] {
  const pieces = changes.flatMap((change) => ('data' in change ? piecesOf(change, unitBytes) : [change]));
  const unitOf = (piece: Change): number => ('data' in piece ? Math.floor(piece.offset / unitBytes) : -1);
  const left = new Map<number, number>();
  for (const piece of pieces) left.set(unitOf(piece), (left.get(unitOf(piece)) ?? 0) + 1);
  const progress = random.next();
  for (const [unit, count] of left) if (!random.chance(progress)) left.set(unit, random.below(count + 1));
  return pieces.filter((piece) => {
    const unit = unitOf(piece);
    left.set(unit, left.get(unit)! - 1);
    return left.get(unit)! >= 0;
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
