// Databases that take their time, each in the way of its kind: a disk that is slow to sync, a server whose answers
// come late. The service waits for them as it would for real ones, and the processors are free for the load.

import { postgres, sqlite } from '../test/database.ts';
import { FaultProxy } from '../test/faults/proxy.ts';
import { type Folder, type Service, serve } from '../test/process.ts';
import { processOf, QUIET, writeScript } from './program.ts';
import { requireStrace } from './strace.ts';

export interface SlowDatabase extends AsyncDisposable {
  /** The settings of a process that uses it without delay. */
  env: Record<string, string>;
  serve(): Promise<{ service: Service; pid: number }>;
}

/** Makes a database that takes `delayMs` longer for each sync of the disk, or for each message of the server. */
type MakeSlow = (folder: Folder, delayMs: number) => Promise<SlowDatabase>;

export const slowDatabases: Readonly<Record<'sqlite' | 'postgres', MakeSlow>> = {
  sqlite: async (folder, delayMs) => {
    requireStrace();
    const { env, drop } = await sqlite.create();
    const syncs = 'fsync,fdatasync';
    const strace = ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${syncs}`];
    const inject = `inject=${syncs}:delay_enter=${delayMs * 1_000}`;
    const script = writeScript(folder.join('program'), [...strace, '-e', inject]);
    const start = async () => {
      const service = await serve(folder, { env: { ...env, ...QUIET }, command: script });
      return { service, pid: processOf(script) };
    };
    return { env, serve: start, [Symbol.asyncDispose]: drop };
  },
  postgres: async (folder, delayMs) => {
    const { url, env, drop } = await postgres.create();
    const proxy = await FaultProxy.start(url);
    const script = writeScript(folder.join('program'));
    const start = async () => {
      const proxied = { ...env, ...QUIET, DATABASE_URL: proxy.url };
      const service = await serve(folder, { env: proxied, command: script });
      proxy.delayMs = delayMs;
      return { service, pid: processOf(script) };
    };
    const end = async () => {
      await proxy[Symbol.asyncDispose]();
      await drop();
    };
    return { env, serve: start, [Symbol.asyncDispose]: end };
  },
};
