// A seeded database on PostgreSQL: made as a file, and copied by the command that users move with. The server is of
// the benchmark's own, unless BENCH_POSTGRES_URL names one.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createDatabase, dropDatabase, inDatabase } from '../test/postgres/node.ts';
import { startPostgres } from '../test/postgres/server.ts';
import type { SeededDatabase } from './seed.ts';
import { rootPath } from './server-process.ts';

export interface BenchServer extends AsyncDisposable {
  url: URL;
  /** Of its first process; null where the server is elsewhere. */
  processId: number | null;
}

/** PostgreSQL with the settings that it comes with, but for the connections: each commit is on the disk. */
export async function openBenchServer(): Promise<BenchServer> {
  const given = process.env.BENCH_POSTGRES_URL;
  if (given) return { url: new URL(given), processId: null, [Symbol.asyncDispose]: async () => {} };
  const { url, folder, stop } = await startPostgres({ fsync: 'on' });
  const [processId] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  return { url: new URL(url), processId: Number(processId), [Symbol.asyncDispose]: stop };
}

/** The same database on the server, until the stack is disposed of. */
export async function copyToPostgres(
  file: SeededDatabase,
  { url: server }: BenchServer,
  stack: AsyncDisposableStack,
): Promise<SeededDatabase> {
  const name = `user_group_service_bench_${randomBytes(4).toString('hex')}`;
  await createDatabase(server, name);
  stack.defer(() => dropDatabase(server, name));
  const databaseUrl = inDatabase(server, name).href;
  const args = [rootPath('bin/user-group-service.js'), 'copy', '--from', file.databaseUrl];
  await promisify(execFile)(process.execPath, args, { env: { TARGET_DATABASE_URL: databaseUrl } });
  await settle(databaseUrl);
  return { ...file, databaseUrl };
}

/** What PostgreSQL would do some time after so many rows have come, it does now and not during a round. */
async function settle(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.end();
}
