// Errors that a disk makes: chosen calls on chosen files fail, because strace answers them in place of the kernel.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export const errors = ['EIO', 'ENOSPC'] as const;

/** SQLite syncs with one of these, which depends on how it was built. */
export const SYNC = 'fsync,fdatasync';

export interface Fault {
  /** One system call, or several with commas. */
  call: string;
  error: (typeof errors)[number] | 'EAGAIN';
  /** Which calls of a thread fail, counted from one: `3` is the third, `3+` the third and all that follow. */
  when: string;
}

export function nameOf({ call, error, when }: Fault): string {
  return `${call} ${when} fails with ${error}`;
}

/** Where the errors strike, and what becomes of them. */
export interface Target {
  paths: readonly string[];
  /** Takes a line for each call, failed or not. */
  output: string;
}

/** The arguments of strace, before a command or with the id of a process. */
export function injectionArguments({ paths, output }: Target, faults: readonly Fault[]): string[] {
  return [
    ...['-f', '-o', output, '-s', '0', '-e', `trace=${faults.map(({ call }) => call).join(',')}`],
    ...paths.flatMap((path) => ['-P', path]),
    ...faults.flatMap(({ call, error, when }) => ['-e', `inject=${call}:error=${error}:when=${when}`]),
  ];
}

export interface Count {
  calls: number;
  failed: number;
}

export function countOf(output: string): Count {
  const text = readFileSync(output, 'latin1');
  const [calls, failed] = [/^\d+ +\w+\(/gm, /\(INJECTED\)$/gm].map((line) => text.match(line)?.length ?? 0);
  return { calls: calls!, failed: failed! };
}

/** Errors in a process that runs already. */
export class Injection {
  readonly #strace: ChildProcess;
  readonly #target: Target;

  /** Resolves when every thread of the process is under its hand. */
  static async attach(pid: number, target: Target, faults: readonly Fault[]): Promise<Injection> {
    const strace = spawn('strace', [...injectionArguments(target, faults), '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const injection = new Injection(strace, target);
    const [said] = await once(strace.stderr!, 'data');
    if (!/attached/.test(String(said))) throw new Error(`strace cannot attach: ${said}`);
    return injection;
  }

  private constructor(strace: ChildProcess, target: Target) {
    this.#strace = strace;
    this.#target = target;
  }

  get count(): Count {
    return countOf(this.#target.output);
  }

  /** The disk is well again. */
  async end(): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const exited = once(this.#strace, 'exit');
    this.#strace.kill('SIGINT');
    await exited;
  }
}
