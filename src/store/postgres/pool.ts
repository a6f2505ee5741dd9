// Connections to PostgreSQL: how many there are, how long anything may take, and what is tried again when one
// fails. Holds no state in a session, so that a pooler such as PgBouncer may stand between.

import pg from 'pg';
import { settledBy } from '../deadline.ts';
import type { StoreObserver } from '../store.ts';
import { BEGIN } from './begin.ts';
import { nameShards } from './citus.ts';
import { Connection } from './connection.ts';
import { Conversation, type Question, type Session, type Statement } from './conversation.ts';
import { Exchange, type SentStatement } from './exchange.ts';
import {
  Failure,
  failureBeforeCommit,
  failureOfConnecting,
  failureOfStatement,
  NoFreeConnection,
} from './failure.ts';
import { clientConfig, type PostgresOptions } from './options.ts';
import { Probe } from './probe.ts';
import { retry } from './retry.ts';

export type { Session, Statement };

type Client = Connection & Pick<pg.PoolClient, 'release'>;
type Work<Result> = (session: Session) => Promise<Result>;

/** Until when it may go on, and whether one before it may have happened. */
interface Attempt {
  deadline: number;
  isRepetition: boolean;
}

const IDLE_TIMEOUT_MS = 30_000;
/** After a failover, connections to the old server do not linger. */
const MAX_LIFETIME_SECONDS = 300;
/** How long a server that had no connection to give is not asked for another one. */
const FULL_PAUSE_MS = 1_000;
/** Where a connection that is younger takes no writes, the others would not either if they were opened anew. */
const NEWS_MS = 1_000;

const OPENING: SentStatement = { name: undefined, text: BEGIN, values: [] };

export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #size: number;
  readonly #named: boolean;
  readonly #isCitus: boolean;
  /** How long `run` may take, with all that is tried again. */
  readonly #patienceMs: number;
  readonly #statementTimeoutMs: number;
  readonly #connectTimeoutMs: number;
  readonly #open = new Set<Connection>();
  readonly #observer: StoreObserver | undefined;
  #generation = 0;
  /** Whether the server could not be reached, so that one asks for all. */
  #isAway = false;
  #fullUntil = 0;
  readonly #probe = new Probe(async () => {
    (await this.#take(performance.now() + this.#patienceMs)).release();
    this.#isAway = false;
  });

  constructor(options: PostgresOptions, isCitus: boolean) {
    const config = clientConfig(options, isCitus);
    this.#isCitus = isCitus;
    this.#size = options.poolSize;
    this.#named = options.preparedStatements;
    this.#patienceMs = config.query_timeout;
    this.#statementTimeoutMs = options.statementTimeoutMs;
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#observer = options.observer;
    this.#pool = new pg.Pool({
      ...config,
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
   * by trying once more, so the work must be one that may be repeated. Throws `Failure`.
   */
  run<Result>(work: Work<Result>): Promise<Result> {
    return this.#tryOnConnections((client, attempt) => work(this.#session(client, attempt)), true);
  }

  /** As `run`, but all statements are one transaction, which is repeated only where nothing has happened or it may be. */
  transaction<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    return this.#tryOnConnections((client, attempt) => this.#transact(client, attempt, work), isRepeatable);
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

  #tryOnConnections<Result>(
    work: (client: Client, attempt: Attempt) => Promise<Result>,
    isRepeatable: boolean,
  ): Promise<Result> {
    const patienceMs = this.#patienceMs;
    return retry((deadline, isRepetition) => this.#onConnection(work, { deadline, isRepetition }), {
      isRepeatable,
      patienceMs,
    });
  }

  async #onConnection<Result>(
    work: (client: Client, attempt: Attempt) => Promise<Result>,
    attempt: Attempt,
  ): Promise<Result> {
    const client = await this.#checkOut(attempt.deadline);
    try {
      const result = await work(client, attempt);
      client.release();
      this.#observer?.available();
      return result;
    } catch (error) {
      this.#giveBack(client, error);
      throw error;
    }
  }

  #giveBack(client: Client, error: unknown): void {
    if (error instanceof Failure && error.connection === 'good') {
      client.release();
      return;
    }
    if (error instanceof Failure && client.generation === this.#generation && speaksForAll(error, client)) {
      this.#generation++;
      this.#isAway ||= error.isSilence;
    }
    discard(client);
  }

  async #checkOut(deadline: number): Promise<Client> {
    try {
      if (this.#isAway) await this.#probe.wait();
      return await this.#take(deadline);
    } catch (error) {
      const failure = failureOfConnecting(error);
      this.#learnFrom(failure);
      throw failure;
    }
  }

  #learnFrom(failure: Failure): void {
    if (failure.isFull) this.#fullUntil = performance.now() + FULL_PAUSE_MS;
    const canGoOn = failure.isBusy || (failure.isFull && this.#pool.totalCount > 0);
    if (canGoOn || this.#pool.ending) return;
    this.#isAway = true;
    this.#observer?.unavailable(failure.message);
  }

  async #take(deadline: number): Promise<Client> {
    const isFull = performance.now() < this.#fullUntil;
    // Whoever comes then waits for one of those that there are.
    this.#pool.options.max = isFull ? Math.max(1, this.#pool.totalCount) : this.#size;
    for (;;) {
      const client = await this.#connect(deadline);
      try {
        await client.refuseStandby();
        if (client.generation === this.#generation) return client;
      } catch (error) {
        discard(client);
        throw error;
      }
      discard(client);
    }
  }

  async #connect(deadline: number): Promise<Client> {
    const connecting = this.#pool.connect() as unknown as Promise<Client>;
    // It has a limit of its own, which is the shorter one but where something is tried again.
    if (deadline - performance.now() >= this.#connectTimeoutMs) return connecting;
    try {
      return await settledBy(
        deadline,
        connecting,
        () => new NoFreeConnection('no connection came free in time'),
      );
    } catch (error) {
      // It may come yet, and is somebody else's then.
      connecting.then((client) => client.release()).catch(() => {});
      throw error;
    }
  }

  async #transact<Result>(client: Client, attempt: Attempt, work: Work<Result>): Promise<Result> {
    let result: Result;
    try {
      result = await this.#workOrUndo(client, attempt, work);
    } catch (error) {
      throw failureBeforeCommit(error);
    }
    const command = await this.#end(client, attempt, 'commit');
    // Of a transaction in which a statement has failed, PostgreSQL does not say so with an error.
    if (command !== 'COMMIT') throw new Error(`PostgreSQL has answered COMMIT with ${command}`);
    return result;
  }

  /** A connection that has survived a failure is used on. */
  async #workOrUndo<Result>(client: Client, attempt: Attempt, work: Work<Result>): Promise<Result> {
    try {
      return await work(this.#session(client, attempt, [OPENING]));
    } catch (error) {
      if (error instanceof Failure && error.connection === 'good') {
        await this.#end(client, attempt, 'rollback');
      }
      throw error;
    }
  }

  /** Says what the server has done. */
  async #end(client: Client, { deadline }: Attempt, text: 'commit' | 'rollback'): Promise<string> {
    const send = (query_timeout: number) => client.query({ text, query_timeout } as pg.QueryConfig);
    return (await this.#send(deadline, send)).command;
  }

  /** `opening` travels with what is asked first. */
  #session(
    client: Client,
    { deadline, isRepetition }: Attempt,
    opening: readonly SentStatement[] = [],
  ): Session {
    let unsent = opening;
    return new Conversation(async (questions) => {
      const before = unsent;
      unsent = [];
      const statements = [...before, ...questions.map((question) => this.#sent(question))];
      const results = await this.#send(
        deadline,
        (timeoutMs) => client.query(new Exchange(statements, timeoutMs)).results,
      );
      return results.slice(before.length);
    }, isRepetition);
  }

  #sent({ statement: { name, sql }, values }: Question): SentStatement {
    return { name: this.#named ? name : undefined, text: this.#isCitus ? nameShards(sql) : sql, values };
  }

  async #send<Result>(deadline: number, send: (timeoutMs: number) => Promise<Result>): Promise<Result> {
    // At least something, since nothing would be the longest of all.
    const timeoutMs = Math.max(1, deadline - performance.now());
    try {
      return await send(timeoutMs);
    } catch (error) {
      // It was made where the answer was read, which tells nothing of who asked.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw failureOfStatement(error, timeoutMs > this.#statementTimeoutMs);
    }
  }
}

/** Whether other connections to the server are likely to be no better. */
function speaksForAll({ connection, isReadOnly }: Failure, { ageMs }: Client): boolean {
  return connection === 'all lost' && !(isReadOnly && ageMs < NEWS_MS);
}

function discard(client: Client): void {
  client.abandon();
  client.release(true);
}
