// Injects disk errors: strace makes selected system calls on selected files fail.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

export const errors = ['EIO', 'ENOSPC'] as const;

/** System calls with which SQLite syncs, depending on its build. */
export const SYNC = 'fsync,fdatasync';

export interface Fault {
  /** One system call, or several separated by commas. */
  call: string;
  error: (typeof errors)[number] | 'EAGAIN';
  /** Calls of a thread that fail, counted from one: `3` is the third, `3+` the third and all later ones. */
  when: string;
}

export function nameOf({ call, error, when }: Fault): string {
  return `${call} ${when} fails with ${error}`;
}

/** Affected files, and the output file of strace. */
export interface Target {
  paths: readonly string[];
  /** Receives a line for each call, failed or not. */
  output: string;
}

/** The arguments of strace, to be followed by a command or a process id. */
export function injectionArguments({ paths, output }: Target, faults: readonly Fault[]): string[] {
  return [
    ...['-f', '-o', output, '-s', '0', '-e', `trace=${faults.map(({ call }) => call).join(',')}`],
    ...paths.flatMap((path) => ['-P', path]),
    ...faults.flatMap(({ call, error, when }) => ['-e', `inject=${call}:error=${error}:when=${when}`]),
  ];
}

/** Returns the number of calls that failed according to the output. */
export function failuresIn(output: string): number {
  return readFileSync(output, 'latin1').match(/\(INJECTED\)$/gm)?.length ?? 0;
}

/** Injects errors into a running process. */
export class Injection {
  readonly #strace: ChildProcess;
  readonly #target: Target;

  /** Resolves when strace is attached to every thread of the process. */
  static async attach(pid: number, target: Target, faults: readonly Fault[]): Promise<Injection> {
    const strace = spawn('strace', [...injectionArguments(target, faults), '-p', String(pid)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const injection = new Injection(strace, target);
    const [output] = await once(strace.stderr!, 'data');
    if (!/attached/.test(String(output))) throw new Error(`strace cannot attach: ${output}`);
    return injection;
  }

  private constructor(strace: ChildProcess, target: Target) {
    this.#strace = strace;
    this.#target = target;
  }

  get failures(): number {
    return failuresIn(this.#target.output);
  }

  /** Detaches strace: calls succeed again. */
  async end(): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const exited = once(this.#strace, 'exit');
    this.#strace.kill('SIGINT');
    await exited;
  }
}
