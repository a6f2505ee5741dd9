// Connections to PostgreSQL: how many there are, how long anything may take, and what is tried again when one
// fails. Holds no state in a session, so that a pooler such as PgBouncer may stand between.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Failure, failureBeforeCommit, failureOfConnecting, failureOfStatement } from './failure.ts';
import { clientConfig, type PostgresOptions } from './options.ts';

export interface Statement {
  /** Names the prepared statement: one text has it, and no other. */
  name: string;
  sql: string;
}

export interface Session {
  /** The rows, each an array of its columns. Throws `Failure`. */
  query(statement: Statement, values?: readonly unknown[]): Promise<unknown[][]>;
}

type Work<Result> = (session: Session) => Promise<Result>;

const IDLE_TIMEOUT_MS = 30_000;
/** After a failover, connections to the old server do not linger. */
const MAX_LIFETIME_SECONDS = 300;
const MAX_ATTEMPTS = 6;
const LONGEST_PAUSE_MS = 50;
/** A failure that took longer is not tried again: the caller has waited enough. */
const QUICK_MS = 500;

export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #named: boolean;
  /** Clients that were opened in an earlier one are not used any more. */
  #generation = 0;
  readonly #generations = new WeakMap<pg.ClientBase, number>();

  constructor(options: PostgresOptions) {
    this.#named = options.preparedStatements;
    this.#pool = new pg.Pool({
      ...clientConfig(options),
      max: options.poolSize,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    // The pool has dropped the connection already; without a listener the process would end.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => {
      this.#generations.set(client, this.#generation);
      // A client in use has no other listener; its statement is told of the error too.
      client.on('error', () => {});
    });
  }

  /**
   * Runs `work` on one connection, each statement a transaction of its own. A trouble that passes quickly is met
   * by trying once more, where nothing has happened or where the work `isRepeatable`. Throws `Failure`.
   */
  run<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    return retry(() => this.#onConnection((client) => work(this.#session(client))), isRepeatable);
  }

  /** As `run`, but all statements are one transaction. */
  transaction<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    return retry(() => this.#onConnection((client) => this.#transact(client, work)), isRepeatable);
  }

  close(): Promise<void> {
    return this.#pool.end();
  }

  async #onConnection<Result>(work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    const client = await this.#checkOut();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const connection = error instanceof Failure ? error.connection : 'lost';
      if (connection === 'all lost' && this.#isCurrent(client)) this.#generation++;
      client.release(connection !== 'good');
      throw error;
    }
  }

  async #checkOut(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#pool.connect().catch((error: unknown) => {
        throw failureOfConnecting(error);
      });
      if (this.#isCurrent(client)) return client;
      client.release(true);
    }
  }

  #isCurrent(client: pg.PoolClient): boolean {
    return this.#generations.get(client) === this.#generation;
  }

  async #transact<Result>(client: pg.PoolClient, work: Work<Result>): Promise<Result> {
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

  #session(client: pg.PoolClient): Session {
    return {
      query: async ({ name, sql }, values = []) => {
        const query = { text: sql, values: [...values], rowMode: 'array' as const };
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

async function retry<Result>(attempt: () => Promise<Result>, isRepeatable: boolean): Promise<Result> {
  const startedAt = performance.now();
  for (let attempts = 1, losses = 0; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof Failure) || attempts === MAX_ATTEMPTS) throw error;
      if (performance.now() - startedAt > QUICK_MS) throw error;
      if (error.outcome === 'unknown' && !isRepeatable) throw error;
      if (error.outcome !== 'conflict' && ++losses > 1) throw error;
      // Those that were in each other's way must not meet again at once.
      if (error.outcome === 'conflict') await sleep(Math.random() * LONGEST_PAUSE_MS);
    }
  }
}
