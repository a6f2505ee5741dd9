// Converts a trace of strace into disk changes and responses to callers, and applies them to a simulated disk.

import { basename, resolve } from 'node:path';
import { bytesOf, type Moment, moments } from '../support/strace.ts';
import { type Change, Directory, Disk, type EndSync } from './disk.ts';

/** The system calls that produce events. */
export const CALLS = [
  ...['mkdir', 'openat', 'pwrite64', 'write', 'ftruncate', 'rename', 'link', 'unlink', 'fsync', 'fdatasync'],
  ...['writev', 'sendto', 'sendmsg'],
];

export type Event =
  | { kind: 'create directory' | 'create file' | 'remove'; path: string }
  | { kind: 'rename' | 'link'; path: string; to: string }
  | { kind: 'change'; path: string; change: Change }
  /** A write at the end of the file. */
  | { kind: 'append'; path: string; data: Buffer }
  | { kind: 'start sync'; path: string; thread: string }
  | { kind: 'end sync'; path: string; thread: string; isSafe: boolean }
  /** The response with this id may have reached its caller. */
  | { kind: 'response'; requestId: string };

/** Yields the events under `root`, and responses. */
export async function* eventsOf(trace: string, root: string): AsyncGenerator<Event> {
  for await (const moment of moments(trace)) {
    for (const event of [...responsesOf(moment), ...changesOf(moment, root)]) {
      if (!('path' in event) || event.path === root || event.path.startsWith(`${root}/`)) yield event;
    }
  }
}

const ANSWERING = ['write', 'writev', 'sendto', 'sendmsg'];
const REQUEST_ID = /x-request-id: ([\w-]+)/gi;
const API_TOKEN = /"uga_/;
/** Id that stands for the output of the command that created the API token. */
export const API_TOKEN_RESPONSE = 'api-token';

/** A response counts from the start of the call that sends it. */
function responsesOf({ call, args, isStart }: Moment): Event[] {
  if (!isStart || !ANSWERING.includes(call)) return [];
  const ids = [...args.matchAll(REQUEST_ID)].map(([, id = '']) => id);
  if (API_TOKEN.test(args)) ids.push(API_TOKEN_RESPONSE);
  return ids.map((requestId) => ({ kind: 'response', requestId }));
}

const OF_FILE = /^\d+<(\/[^>]*)>(.*)$/s;
const OF_PATHS = /^(?:AT_FDCWD<[^>]*>, )?"(.*?)"(?:, "(.*?)")?(.*)$/s;

/** A change counts from the end of its call, when its result is known: a cut during a call is a cut before it. */
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

function syncsOf({ thread, isStart, isEnd, result }: Moment, path: string): Event[] {
  const events: Event[] = [];
  if (isStart) events.push({ kind: 'start sync', path, thread });
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
      return [{ kind: 'create directory', path }];
    case 'unlink':
      return [{ kind: 'remove', path }];
    case 'rename':
    case 'link':
      return [{ kind: call, path, to }];
    case 'openat': {
      const events: Event[] = [];
      if (flags.includes('O_CREAT')) events.push({ kind: 'create file', path });
      if (flags.includes('O_TRUNC')) events.push({ kind: 'change', path, change: { size: 0 } });
      return events;
    }
    default:
      return [];
  }
}

/**
 * A write in progress when the process was killed: the trace does not show whether the kernel completed it.
 */
export interface OpenWrite {
  thread: string;
  path: string;
  offset: number;
  data: Buffer;
}

export async function* openWrites(trace: string, root: string): AsyncGenerator<OpenWrite> {
  const open = new Map<string, string>();
  for await (const { thread, call, args, isEnd } of moments(trace)) {
    if (call === 'pwrite64' && !isEnd) open.set(thread, args);
    else open.delete(thread);
  }
  for (const [thread, args] of open) {
    const [, path = '', rest = ''] = OF_FILE.exec(args) ?? [];
    const [, printed = '', offset] = WRITTEN.exec(rest) ?? [];
    if (path.startsWith(`${root}/`)) yield { thread, path, offset: Number(offset), data: bytesOf(printed) };
  }
}

/** State of the disk, and the responses sent, at one moment of a recording. */
export class Replay {
  readonly disk: Disk;
  readonly answered = new Set<string>();
  readonly #isLying: boolean;
  readonly #syncs = new Map<string, EndSync>();

  /** `isLying`: the disk acknowledges syncs without performing them. */
  constructor(root: string, isLying: boolean) {
    this.disk = new Disk(root);
    this.#isLying = isLying;
  }

  apply(event: Event): void {
    switch (event.kind) {
      case 'response':
        this.answered.add(event.requestId);
        return;
      case 'start sync':
        this.#syncs.set(event.thread, this.disk.find(event.path)?.startSync() ?? (() => {}));
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
        this.#changeName(event);
    }
  }

  #changeName(
    event: Extract<Event, { kind: 'create directory' | 'create file' | 'remove' | 'rename' | 'link' }>,
  ): void {
    const { path, kind } = event;
    const parent = this.disk.parent(path);
    const name = basename(path);
    const node = this.disk.find(path);
    if (kind === 'create directory') parent.change({ name, node: new Directory() });
    if (kind === 'create file') this.disk.file(path);
    if (kind === 'remove') parent.change({ name, node: null });
    if (event.kind === 'link') parent.change({ name: basename(event.to), node: node! });
    if (event.kind === 'rename')
      parent.change({ name, node: null }, { name: basename(event.to), node: node! });
  }
}
