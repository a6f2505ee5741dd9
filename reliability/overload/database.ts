// Slow databases: for SQLite a disk with slow syncs, for PostgreSQL a server with delayed responses. The delay uses no
// CPU time, which remains available for the load.

import { postgres, sqlite } from '../../test/support/database.ts';
import { FaultProxy } from '../../test/support/faults/proxy.ts';
import { type Folder, type Service, serve } from '../../test/support/process.ts';
import { QUIET, writeScript } from '../support/program.ts';
import { requireStrace } from '../support/strace.ts';

interface SlowDatabase extends AsyncDisposable {
  /** Settings of a process that uses the database without delay. */
  env: Record<string, string>;
  serve(): Promise<Service>;
}

/** Creates a database that delays each sync of the disk, or each message of the server, by `delayMs`. */
type CreateSlowDatabase = (folder: Folder, delayMs: number) => Promise<SlowDatabase>;

export const slowDatabases: Readonly<Record<'sqlite' | 'postgres', CreateSlowDatabase>> = {
  sqlite: async (folder, delayMs) => {
    requireStrace();
    const { env, drop } = await sqlite.create();
    const syncs = 'fsync,fdatasync';
    const strace = ['strace', '-D', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', `trace=${syncs}`];
    const inject = `inject=${syncs}:delay_enter=${delayMs * 1_000}`;
    const script = writeScript(folder.join('program'), [...strace, '-e', inject]);
    const start = () => serve(folder, { env: { ...env, ...QUIET }, command: script });
    return { env, serve: start, [Symbol.asyncDispose]: drop };
  },
  postgres: async (folder, delayMs) => {
    const { url, env, drop } = await postgres.create();
    const proxy = await FaultProxy.start(url);
    const start = async () => {
      const service = await serve(folder, { env: { ...env, ...QUIET, DATABASE_URL: proxy.url } });
      proxy.delayMs = delayMs;
      return service;
    };
    const end = async () => {
      await proxy[Symbol.asyncDispose]();
      await drop();
    };
    return { env, serve: start, [Symbol.asyncDispose]: end };
  },
};
