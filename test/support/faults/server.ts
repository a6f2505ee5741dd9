// A dedicated PostgreSQL server for a test, which can be stopped, crashed, filled, and replicated to a
// standby.

import { execFile } from 'node:child_process';
import { appendFileSync, chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { generateKeyLine } from '../../../src/domain/key-ring.ts';
import { freePort } from '../connection/free-port.ts';
import { removeFolder, type TestDatabase, temporaryFolder, testDatabase } from '../database.ts';
import { newServer, randomPassword, urlOf } from '../postgres/server.ts';
import { SqlConnection } from '../sql.ts';
import { within } from './installation.ts';

const START_LIMIT_MS = 20_000;

/** Functions that begin and end a backup; version 14 has them under their earlier names. */
const backup =
  process.env.TEST_POSTGRES === '14'
    ? { start: "pg_start_backup('standby', true, false)", stop: 'pg_stop_backup(false)' }
    : { start: "pg_backup_start('standby', true)", stop: 'pg_backup_stop()' };

interface Cluster {
  folder: string;
  password: string;
}

/** Cluster of which each server gets a copy: `initdb` takes ten times as long. */
let cluster: Promise<Cluster> | null = null;

async function initialise(): Promise<Cluster> {
  const [folder, password] = [temporaryFolder(), randomPassword()];
  process.on('exit', () => removeFolder(folder));
  await newServer({ folder, port: 0, password, persistent: true, settings: {}, output: [] }).initialise();
  return { folder, password };
}

/** Copies a data directory, with the user who runs the server as its owner. */
async function copyTo(to: string, from: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', `${from}/.`, to]);
}

export class DedicatedServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #password: string;
  readonly #postgres: ReturnType<typeof newServer>;
  readonly #output: string[] = [];

  /** Starts a new server with the settings. */
  static async start(settings: Record<string, string> = {}): Promise<DedicatedServer> {
    cluster ??= initialise();
    const { folder, password } = await cluster;
    const server = new DedicatedServer(temporaryFolder(), await freePort(), password, settings);
    await copyTo(server.#folder, folder);
    await server.start();
    return server;
  }

  private constructor(folder: string, port: number, password: string, settings: Record<string, string> = {}) {
    this.#folder = folder;
    this.#port = port;
    this.#password = password;
    const output = this.#output;
    this.#postgres = newServer({ folder, port, password, persistent: true, settings, output });
  }

  /** Only database of the server, dropped with it. */
  get database(): TestDatabase {
    const url = urlOf(this.#port, this.#password);
    const env = { DATABASE_URL: url, UGS_TOKEN_KEYS: generateKeyLine().reveal() };
    return testDatabase(url, env, () => this.drop());
  }

  /** Starts or restarts the server. */
  async start(): Promise<void> {
    // The promise resolves only when the server accepts writes, which a standby never does.
    this.#postgres.start().catch(() => {});
    await within(START_LIMIT_MS, 'the server to start', () => this.#acceptsConnections()).catch((cause) => {
      throw new Error(`PostgreSQL did not start:\n${this.#output.join('')}`, { cause });
    });
  }

  /** Shuts down cleanly, or crashes so that the server must recover at the next start. */
  async stop(how: 'clean' | 'crash' = 'clean'): Promise<void> {
    if (how === 'crash') process.kill(this.#processId, 'SIGQUIT');
    await this.#postgres.stop();
  }

  async drop(): Promise<void> {
    await this.stop();
    removeFolder(this.#folder);
  }

  /** Starts a synchronous standby: afterwards, commits wait for both servers. */
  async startStandby(): Promise<DedicatedServer> {
    const folder = temporaryFolder();
    await using operator = await SqlConnection.open(this.database.url);
    await operator.query(`select ${backup.start}`);
    await copyTo(folder, this.#folder);
    const { rows } = await operator.query(`select labelfile from ${backup.stop}`);
    rmSync(join(folder, 'postmaster.pid'));
    const standby = new DedicatedServer(folder, await freePort(), this.#password);
    standby.#write('backup_label', rows[0].labelfile);
    standby.#write('standby.signal', '');
    const primary = `host=127.0.0.1 port=${this.#port} user=postgres password=${this.#password}`;
    appendFileSync(join(folder, 'postgresql.auto.conf'), `primary_conninfo = '${primary}'\n`);
    await standby.start();
    await operator.query("alter system set synchronous_standby_names = '*'");
    await operator.query('select pg_reload_conf()');
    await within(START_LIMIT_MS, 'the standby to follow', async () => {
      const { rowCount } = await operator.query(
        "select 1 from pg_stat_replication where sync_state = 'sync'",
      );
      return rowCount === 1;
    });
    return standby;
  }

  promote(): Promise<void> {
    return this.run('select pg_promote()');
  }

  /** Pauses replay on a standby: it still receives WAL, but reads return the old state. */
  pauseReplay(): Promise<void> {
    return this.run('select pg_wal_replay_pause()');
  }

  async setReadOnly(value: 'on' | 'off'): Promise<void> {
    await this.run(`alter system set default_transaction_read_only = ${value}`);
    await this.run('select pg_reload_conf()');
  }

  async run(sql: string): Promise<void> {
    await using operator = await SqlConnection.open(this.database.url);
    await operator.query(sql);
  }

  /** Writes a file owned by the user who runs the server. */
  #write(name: string, text: string): void {
    const { uid, gid } = statSync(join(this.#folder, 'PG_VERSION'));
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    chownSync(path, uid, gid);
  }

  get #processId(): number {
    return Number.parseInt(readFileSync(join(this.#folder, 'postmaster.pid'), 'utf8'), 10);
  }

  async #acceptsConnections(): Promise<boolean> {
    const client = new pg.Client(this.database.url);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  }
}
