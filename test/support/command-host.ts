// Runs commands one after another in one process, because starting a process takes ten times as long as most
// commands.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('command-host-main.ts', import.meta.url));

export interface HostedCommand {
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Working directory. */
  folder: string;
}

export interface HostedExit {
  code: number;
  stdout: string;
  stderr: string;
}

/** Host whose process starts with the first command and ends with this process. */
export class CommandHost {
  #child: ChildProcess | null = null;
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a command after all earlier ones. */
  run(command: HostedCommand, limitMs: number): Promise<HostedExit> {
    const exit = this.#last.then(() => this.#exchange(command, limitMs));
    this.#last = exit.catch(() => {});
    return exit;
  }

  async #exchange(command: HostedCommand, limitMs: number): Promise<HostedExit> {
    this.#child ??= spawn(process.execPath, [MAIN], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const child = this.#child;
    const done = new AbortController();
    const signal = AbortSignal.any([done.signal, AbortSignal.timeout(limitMs)]);
    const ended = once(child, 'exit', { signal }).then(() => {
      throw new Error('the process of the commands ended');
    });
    // Otherwise, the host keeps the process of the tests running.
    for (const handle of [child, child.channel!]) handle.ref();
    try {
      const answer = once(child, 'message', { signal });
      child.send(command);
      const [exit] = await Promise.race([answer, ended]);
      return exit;
    } catch (cause) {
      // The command may still run: the next one gets another process.
      child.kill('SIGKILL');
      this.#child = null;
      throw new Error(`no exit of: user-group-service ${command.args.join(' ')}`, { cause });
    } finally {
      done.abort();
      for (const handle of [child, child.channel!]) handle.unref();
    }
  }
}
