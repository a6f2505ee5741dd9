// What strace has written down, as changes of a disk and as answers to callers, and what these make of a disk.

import { basename, resolve } from 'node:path';
import { type Change, Directory, Disk, type EndSync } from './disk.ts';
import { bytesOf, type Moment, moments } from './strace.ts';

/** The calls that make events. */
export const CALLS = [
  ...['mkdir', 'openat', 'pwrite64', 'write', 'ftruncate', 'rename', 'link', 'unlink', 'fsync', 'fdatasync'],
  ...['writev', 'sendto', 'sendmsg'],
];

export type Event =
  | { kind: 'make directory' | 'make file' | 'remove'; path: string }
  | { kind: 'rename' | 'link'; path: string; to: string }
  | { kind: 'change'; path: string; change: Change }
  /** Goes on from the end of the file. */
  | { kind: 'append'; path: string; data: Buffer }
  | { kind: 'begin sync'; path: string; thread: string }
  | { kind: 'end sync'; path: string; thread: string; isSafe: boolean }
  /** An answer of this id may have reached its caller. */
  | { kind: 'answer'; requestId: string };

/** The events under `root`, and answers. */
export async function* eventsOf(trace: string, root: string): AsyncGenerator<Event> {
  for await (const moment of moments(trace)) {
    for (const event of [...answersOf(moment), ...changesOf(moment, root)]) {
      if (!('path' in event) || event.path === root || event.path.startsWith(`${root}/`)) yield event;
    }
  }
}

const ANSWERING = ['write', 'writev', 'sendto', 'sendmsg'];
const REQUEST_ID = /x-request-id: ([\w-]+)/gi;
const API_TOKEN = /"uga_/;
/** Stands for the answer of the command that has made the API token. */
export const API_TOKEN_TOLD = 'api-token';

/** An answer counts from the moment at which it begins to be sent. */
function answersOf({ call, args, isBegin }: Moment): Event[] {
  if (!isBegin || !ANSWERING.includes(call)) return [];
  const ids = [...args.matchAll(REQUEST_ID)].map(([, id = '']) => id);
  if (API_TOKEN.test(args)) ids.push(API_TOKEN_TOLD);
  return ids.map((requestId) => ({ kind: 'answer', requestId }));
}

const OF_FILE = /^\d+<(\/[^>]*)>(.*)$/s;
const OF_PATHS = /^(?:AT_FDCWD<[^>]*>, )?"(.*?)"(?:, "(.*?)")?(.*)$/s;

/** Changes count from their end, when it is known what they did: a cut in the middle of one is a cut before it. */
function changesOf(moment: Moment, root: string): Event[] {
  const { call, args, isEnd, result } = moment;
  const [, openPath, rest = ''] = OF_FILE.exec(args) ?? [];
  if (openPath !== undefined) {
    if (call.endsWith('sync')) return syncsOf(moment, openPath);
    return isEnd && result >= 0 ? writesOf(call, openPath, rest, result) : [];
  }
  if (!isEnd || result < 0) return [];
  const [, first = '', second = '', flags = ''] = OF_PATHS.exec(args) ?? [];
  return namingsOf(call, resolve(root, first), resolve(root, second), flags);
}

function syncsOf({ thread, isBegin, isEnd, result }: Moment, path: string): Event[] {
  const events: Event[] = [];
  if (isBegin) events.push({ kind: 'begin sync', path, thread });
  if (isEnd) events.push({ kind: 'end sync', path, thread, isSafe: result === 0 });
  return events;
}

const WRITTEN = /^, "(.*)", \d+(?:, (\d+))?$/s;

function writesOf(call: string, path: string, rest: string, result: number): Event[] {
  if (call === 'ftruncate') return [{ kind: 'change', path, change: { size: Number(rest.slice(2)) } }];
  const [, printed = '', offset] = WRITTEN.exec(rest) ?? [];
  const data = bytesOf(printed).subarray(0, result);
  if (call === 'write') return [{ kind: 'append', path, data }];
  if (call === 'pwrite64') return [{ kind: 'change', path, change: { offset: Number(offset), data } }];
  return [];
}

function namingsOf(call: string, path: string, to: string, flags: string): Event[] {
  switch (call) {
    case 'mkdir':
      return [{ kind: 'make directory', path }];
    case 'unlink':
      return [{ kind: 'remove', path }];
    case 'rename':
    case 'link':
      return [{ kind: call, path, to }];
    case 'openat': {
      const events: Event[] = [];
      if (flags.includes('O_CREAT')) events.push({ kind: 'make file', path });
      if (flags.includes('O_TRUNC')) events.push({ kind: 'change', path, change: { size: 0 } });
      return events;
    }
    default:
      return [];
  }
}

/** A disk and its callers at one moment of a recording. */
export class Replay {
  readonly disk: Disk;
  readonly answered = new Set<string>();
  readonly #isLying: boolean;
  readonly #syncs = new Map<string, EndSync>();

  /** `isLying`: the disk says that it has synced, and has not. */
  constructor(root: string, isLying: boolean) {
    this.disk = new Disk(root);
    this.#isLying = isLying;
  }

  apply(event: Event): void {
    switch (event.kind) {
      case 'answer':
        this.answered.add(event.requestId);
        return;
      case 'begin sync':
        this.#syncs.set(event.thread, this.disk.find(event.path)?.beginSync() ?? (() => {}));
        return;
      case 'end sync':
        if (!this.#isLying) this.#syncs.get(event.thread)?.(event.isSafe);
        return;
      case 'change':
        this.disk.file(event.path).change(event.change);
        return;
      case 'append': {
        const file = this.disk.file(event.path);
        file.change({ offset: file.size, data: event.data });
        return;
      }
      default:
        this.#name(event);
    }
  }

  #name(
    event: Extract<Event, { kind: 'make directory' | 'make file' | 'remove' | 'rename' | 'link' }>,
  ): void {
    const { path, kind } = event;
    const parent = this.disk.parent(path);
    const name = basename(path);
    const node = this.disk.find(path);
    if (kind === 'make directory') parent.change({ name, node: new Directory() });
    if (kind === 'make file') this.disk.file(path);
    if (kind === 'remove') parent.change({ name, node: null });
    if (event.kind === 'link') parent.change({ name: basename(event.to), node: node! });
    if (event.kind === 'rename')
      parent.change({ name, node: null }, { name: basename(event.to), node: node! });
  }
}
