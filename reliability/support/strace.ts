// Parses the output of strace: the system calls of a process in order, with their data.

import { spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** strace cannot be used on this machine. */
class StraceMissing extends Error {
  override readonly name = 'StraceMissing';
}

/** Whether strace is installed and permitted. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0;
}

/** Throws `StraceMissing`. */
export function requireStrace(): void {
  if (canTrace()) return;
  throw new StraceMissing(
    'this rig requires strace and the permission to use it: "apt install strace" on Debian and Ubuntu, --cap-add SYS_PTRACE for a container',
  );
}

/** Maximum length of recorded data: more than any single write of the service. */
const LONGEST_DATA_BYTES = 1_048_576;

/**
 * Returns the arguments with which strace runs a command and writes its calls to a file. The process keeps
 * its id.
 */
export function recordingArguments(output: string, calls: readonly string[]): string[] {
  return [
    ...['-D', '-f', '-y', '--seccomp-bpf', '-o', output, '-s', String(LONGEST_DATA_BYTES)],
    ...['--strings-in-hex=non-ascii-chars', '-e', `trace=${calls.join(',')}`],
  ];
}

/** Start or end of a call, or both if no call of another thread happened in between. */
export interface Moment {
  call: string;
  /** Arguments as strace prints them. Output arguments are only present at the end. */
  args: string;
  isStart: boolean;
  isEnd: boolean;
  /** NaN before the end. */
  result: number;
  /** Thread, which matches the start of a call with its end. */
  thread: string;
}

// Groups: thread, whether the call is resumed, call, arguments, result.
const WHOLE = /^(\d+) +()?(\w+)\((.*)\) += (-?\d+)/;
// A call that is in progress when its process is killed ends with "= ?".
const UNFINISHED = /^(\d+) +()?(\w+)\((.*?)(?: <unfinished \.\.\.>(?:\) += \?)?|\) += \?)$/;
const RESUMED = /^(\d+) +(<\.\.\.) (\w+) resumed>(.*)\) += (-?\d+)/;

export async function* moments(output: string): AsyncGenerator<Moment> {
  const started = new Map<string, string>();
  for await (const line of createInterface({ input: createReadStream(output, 'latin1') })) {
    const match = WHOLE.exec(line) ?? UNFINISHED.exec(line) ?? RESUMED.exec(line);
    if (match === null) continue;
    const [, thread = '', resumed, call = '', printed = '', result] = match;
    const args = resumed === undefined ? printed : `${started.get(thread)}${printed}`;
    started.set(thread, args);
    const [isStart, isEnd] = [resumed === undefined, result !== undefined];
    yield { thread, call, args, isStart, isEnd, result: Number(result) };
  }
}

const ESCAPES: Record<string, number> = { n: 10, r: 13, t: 9, v: 11, f: 12, '"': 34, '\\': 92 };
const BACKSLASH = 92;

/** Returns the bytes of a string that strace has printed between quotes. */
export function bytesOf(printed: string): Buffer {
  const bytes = Buffer.allocUnsafe(printed.length);
  let length = 0;
  for (let at = 0; at < printed.length; at++) {
    let code = printed.charCodeAt(at);
    if (code === BACKSLASH) {
      const letter = printed[++at]!;
      if (letter === 'x') {
        code = Number.parseInt(printed.slice(at + 1, at + 3), 16);
        at += 2;
      } else code = ESCAPES[letter]!;
    }
    bytes[length++] = code;
  }
  return bytes.subarray(0, length);
}
