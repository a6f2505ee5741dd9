// Starts a PostgreSQL server for the tests, installed from npm, in a temporary folder and on a free port.

import { randomBytes } from 'node:crypto';
import { freePort } from '../connection/free-port.ts';
import { removeFolder, temporaryFolder } from '../database.ts';
import { EmbeddedPostgres, linguistic } from './embedded.ts';

export interface PostgresServer {
  /** Data directory. */
  folder: string;
  /** URL of the database `postgres`, with a superuser. */
  url: string;
  stop(): Promise<void>;
}

interface NewServer {
  folder: string;
  port: number;
  password: string;
  /** Whether to keep the folder when the server stops. */
  persistent: boolean;
  settings: Record<string, string>;
  /** Receives the output of the server. */
  output: string[];
}

/**
 * Returns a server that has not been started. It is stopped when this process exits for any reason except
 * SIGKILL.
 */
export function newServer(options: NewServer): InstanceType<typeof EmbeddedPostgres> {
  const { folder, port, password, persistent, output } = options;
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '300',
    max_prepared_transactions: '4',
    // Durability is not needed: no test cuts the power.
    fsync: 'off',
    ...options.settings,
  };
  return new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'postgres',
    password,
    authMethod: 'scram-sha-256',
    persistent,
    // PostgreSQL refuses to run as root.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', ...linguistic, '--no-sync'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (line) => output.push(String(line)),
    onError: (line) => output.push(String(line)),
  });
}

export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const folder = temporaryFolder();
  const port = await freePort();
  const password = randomPassword();
  const output: string[] = [];
  const server = newServer({ folder, port, password, persistent: false, settings, output });
  try {
    await server.initialise();
    await server.start();
  } catch (error) {
    removeFolder(folder);
    throw new Error(`PostgreSQL did not start:\n${output.join('')}`, { cause: error });
  }
  return { folder, url: urlOf(port, password), stop: () => server.stop() };
}

export function randomPassword(): string {
  return randomBytes(16).toString('hex');
}

export function urlOf(port: number, password: string): string {
  return `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
}
