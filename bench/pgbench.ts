// Generates load with pgbench, PostgreSQL's benchmark: the throughput of the database for single rows.

import { execFile, spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { promisify } from 'node:util';
import { rootPath } from './server-process.ts';
import type { Round } from './wrk.ts';

/** pgbench is not installed. */
export class PgbenchMissing extends Error {
  override readonly name = 'PgbenchMissing';
}

interface PgbenchLoad {
  databaseUrl: string;
  /** Name of a file in `bench/pgbench/`, without extension. */
  script: string;
  groups: number;
  seconds: number;
  clients: number;
  threads: number;
}

/** Runs a load in which every client has one transaction in flight; statements are prepared. */
export async function pgbench({
  databaseUrl,
  script,
  groups,
  seconds,
  clients,
  threads,
}: PgbenchLoad): Promise<Round> {
  const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', String(threads)];
  const { username, password, hostname, port, pathname } = new URL(databaseUrl);
  const { stdout } = await promisify(execFile)(
    requirePgbench(),
    [
      ...args,
      ...['-T', String(seconds), '-D', `groups=${groups}`, '-f', rootPath(`bench/pgbench/${script}.sql`)],
    ],
    {
      env: {
        PATH: process.env.PATH,
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: decodeURIComponent(password),
        PGDATABASE: pathname.slice(1),
      },
    },
  );
  const perSecond = /^tps = ([\d.]+)/m.exec(stdout);
  const meanMs = /^latency average = ([\d.]+) ms/m.exec(stdout);
  if (perSecond === null || meanMs === null || !/^number of failed transactions: 0 /m.test(stdout)) {
    throw new Error(`pgbench failed:\n${stdout}`);
  }
  return { requestsPerSecond: Number(perSecond[1]), p50Ms: Number.NaN, p99Ms: Number.NaN };
}

/**
 * Returns the program from PATH, or from Debian's folders, which are not in PATH. Throws `PgbenchMissing`.
 */
export function requirePgbench(): string {
  const programs = ['pgbench', ...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse()];
  const program = programs.find((candidate) => spawnSync(candidate, ['--version']).status === 0);
  if (program !== undefined) return program;
  throw new PgbenchMissing(
    'this benchmark requires pgbench, which is not installed: "apt install postgresql-contrib" on Debian ' +
      'and Ubuntu, "brew install postgresql" on macOS',
  );
}
