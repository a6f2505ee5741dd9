// Provides a seeded database on PostgreSQL: creates it as a SQLite file, and copies it with the `copy`
// command. Starts a server unless BENCH_POSTGRES_URL is set.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { createDatabase, dropDatabase, inDatabase } from '../test/support/postgres/node.ts';
import { startPostgres } from '../test/support/postgres/server.ts';
import type { SeededDatabase } from './seed.ts';
import { rootPath } from './server-process.ts';

export interface BenchServer extends AsyncDisposable {
  url: URL;
  /** Process id of the postmaster; null for an external server. */
  processId: number | null;
}

/** Starts PostgreSQL with its default settings, except max_connections, and with durable commits. */
export async function openBenchServer(): Promise<BenchServer> {
  const given = process.env.BENCH_POSTGRES_URL;
  if (given) return { url: new URL(given), processId: null, [Symbol.asyncDispose]: async () => {} };
  const { url, folder, stop } = await startPostgres({ fsync: 'on' });
  const [processId] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n');
  return { url: new URL(url), processId: Number(processId), [Symbol.asyncDispose]: stop };
}

/** Copies the database to the server, where it stays until the stack is disposed. */
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
  await runMaintenance(databaseUrl);
  return { ...file, databaseUrl };
}

/** Runs the maintenance that PostgreSQL would otherwise run during a round. */
async function runMaintenance(databaseUrl: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.end();
}
