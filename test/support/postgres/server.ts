// A PostgreSQL server for the tests, installed from npm, in a temporary folder and on a free port.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { temporaryFolder } from '../database.ts';
import { freePort } from '../free-port.ts';
import { EmbeddedPostgres, linguistic } from './embedded.ts';

export interface PostgresServer {
  /** Its data directory. */
  folder: string;
  /** The URL of the database `postgres`, with a superuser. */
  url: string;
  stop(): Promise<void>;
}

/** The server is stopped when this process exits for any reason except SIGKILL. */
export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = temporaryFolder();
  const port = await freePort();
  const password = randomBytes(16).toString('hex');
  const output: string[] = [];
  const server = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password,
    authMethod: 'scram-sha-256',
    persistent: false,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', ...linguistic, '--no-sync'],
    postgresFlags: flags({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      // Durability is not needed: no test cuts the power.
      fsync: 'off',
      ...settings,
    }),
    onLog: (line) => output.push(String(line)),
    onError: (line) => output.push(String(line)),
  });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`PostgreSQL did not start:\n${output.join('')}`, { cause: error });
  }
  return {
    folder,
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  };
}

function flags(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}
