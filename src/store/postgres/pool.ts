// Connections to PostgreSQL: how many there are, how long anything may take, and what is tried again when one
// fails. Holds no state in a session, so that a pooler such as PgBouncer may stand between.

import pg from 'pg';
import { nameShards } from './citus.ts';
import { Connection } from './connection.ts';
import {
  Failure,
  failureAfterCommit,
  failureBeforeCommit,
  failureOfConnecting,
  failureOfStatement,
} from './failure.ts';
import { clientConfig, type PostgresOptions } from './options.ts';
import { Probe } from './probe.ts';
import { retry } from './retry.ts';

export interface Statement {
  /** Names the prepared statement: one text has it, and no other. */
  name: string;
  sql: string;
}

export interface Session {
  /** The rows, each an array of its columns. Throws `Failure`. */
  query(statement: Statement, values?: readonly unknown[]): Promise<unknown[][]>;
}

type Client = Connection & Pick<pg.PoolClient, 'release'>;
type Work<Result> = (session: Session) => Promise<Result>;

const IDLE_TIMEOUT_MS = 30_000;
/** After a failover, connections to the old server do not linger. */
const MAX_LIFETIME_SECONDS = 300;
/** How long a server that had no connection to give is not asked for another one. */
const FULL_PAUSE_MS = 1_000;

export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #size: number;
  readonly #named: boolean;
  readonly #isCitus: boolean;
  readonly #open = new Set<Connection>();
  #generation = 0;
  #isSilent = false;
  #fullUntil = 0;
  readonly #probe = new Probe(async () => {
    (await this.#take()).release();
    this.#isSilent = false;
  });

  constructor(options: PostgresOptions, isCitus: boolean) {
    this.#isCitus = isCitus;
    this.#size = options.poolSize;
    this.#named = options.preparedStatements;
    this.#pool = new pg.Pool({
      ...clientConfig(options, isCitus),
      // Their types know of no constructor with settings, which is the one that they call.
      Client: Connection as unknown as new () => pg.ClientBase,
      max: this.#size,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    // The pool has dropped the connection already; without a listener the process would end.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#welcome(client as unknown as Connection));
  }

  /**
   * Runs `work` on one connection, each statement a transaction of its own. A trouble that passes quickly is met
   * by trying once more, where nothing has happened or where the work `isRepeatable`. Throws `Failure`.
   */
  run<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    const steps = isRepeatable ? work : inSteps(work);
    return retry(() => this.#onConnection((client) => steps(this.#session(client))), isRepeatable);
  }

  /** As `run`, but all statements are one transaction. */
  transaction<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    return retry(() => this.#onConnection((client) => this.#transact(client, work)), isRepeatable);
  }

  async close(): Promise<void> {
    await this.#pool.end();
    // The server may never answer their farewell, and the process is not to wait for it.
    for (const connection of this.#open) connection.unref();
  }

  #welcome(connection: Connection): void {
    connection.generation = this.#generation;
    this.#open.add(connection);
    connection.once('end', () => this.#open.delete(connection));
  }

  async #onConnection<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const client = await this.#checkOut();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      if (error instanceof Failure && error.connection === 'good') client.release();
      else this.#abandon(client, error);
      throw error;
    }
  }

  #abandon(client: Client, error: unknown): void {
    if (
      error instanceof Failure &&
      error.connection === 'all lost' &&
      client.generation === this.#generation
    ) {
      this.#generation++;
      this.#isSilent = error.isSilence;
    }
    client.abandon();
    client.release(true);
  }

  async #checkOut(): Promise<Client> {
    try {
      if (this.#isSilent) await this.#probe.wait();
      return await this.#take();
    } catch (error) {
      const failure = failureOfConnecting(error);
      if (failure.isSilence) this.#isSilent = true;
      if (failure.isFull) this.#fullUntil = performance.now() + FULL_PAUSE_MS;
      throw failure;
    }
  }

  async #take(): Promise<Client> {
    const isFull = performance.now() < this.#fullUntil;
    // Whoever comes then waits for one of those that there are.
    this.#pool.options.max = isFull ? Math.max(1, this.#pool.totalCount) : this.#size;
    for (;;) {
      const client = (await this.#pool.connect()) as unknown as Client;
      if (client.generation === this.#generation) return client;
      client.abandon();
      client.release(true);
    }
  }

  async #transact<Result>(client: Client, work: Work<Result>): Promise<Result> {
    let result: Result;
    try {
      await client.query('begin').catch(rethrow);
      result = await work(this.#session(client));
    } catch (error) {
      throw failureBeforeCommit(error);
    }
    await client.query('commit').catch(rethrow);
    return result;
  }

  #session(client: Client): Session {
    return {
      query: async ({ name, sql }, values = []) => {
        const text = this.#isCitus ? nameShards(sql) : sql;
        const query = { text, values: [...values], rowMode: 'array' as const };
        const { rows } = await client
          .query<unknown[]>(this.#named ? { name, ...query } : query)
          .catch(rethrow);
        return rows;
      },
    };
  }
}

function rethrow(error: unknown): never {
  throw failureOfStatement(error);
}

/** A statement that has succeeded is committed: where a later one fails, it is not true that nothing has happened. */
function inSteps<Result>(work: Work<Result>): Work<Result> {
  return async (session) => {
    let hasCommitted = false;
    const query: Session['query'] = async (statement, values) => {
      const rows = await session.query(statement, values);
      hasCommitted = true;
      return rows;
    };
    try {
      return await work({ query });
    } catch (error) {
      throw hasCommitted ? failureAfterCommit(error) : error;
    }
  };
}
