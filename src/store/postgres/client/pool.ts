// The connection pool: size, timeouts, retries and the circuit breaker. Keeps no session state, so that a pooler such
// as PgBouncer can sit in between.

import pg from 'pg';
import { EventQuota, NO_EVENT_QUOTA } from '../../../domain/event/quota.ts';
import { withDeadline } from '../../../scheduling/timeout.ts';
import { nameShards } from '../schema/citus.ts';
import { Connection } from './connection.ts';
import {
  connectError,
  errorBeforeCommit,
  NoFreeConnection,
  statementError,
  TransientError,
} from './errors.ts';
import type { Hosts } from './hosts.ts';
import { BEGIN } from './isolation.ts';
import { clientConfig, type PostgresOptions } from './options.ts';
import { poolClientClass, reportConstructorErrors, setMaxConnections } from './pg-internals.ts';
import { Pipeline, type SentStatement } from './pipeline.ts';
import { ReconnectProbe } from './reconnect-probe.ts';
import { type Attempt, retry } from './retry.ts';
import { type PendingStatement, Session } from './session.ts';

type Client = Connection & Pick<pg.PoolClient, 'release'>;
type Work<Result> = (session: Session) => Promise<Result>;

const IDLE_TIMEOUT_MS = 30_000;
/** Maximum age of a connection: after a failover, connections to the old server do not linger. */
const MAX_LIFETIME_SECONDS = 300;
/** Pause in which no connection is opened after "too many connections", or a rejected login. */
const REFUSED_PAUSE_MS = 1_000;
/** If a connection younger than this reports a read-only server, reconnecting the others would not help. */
const FRESH_CONNECTION_MS = 1_000;

/** How long changes lock first after a conflict, when further conflicts are likely. */
const CONTENDED_MS = 1_000;

const BEGIN_STATEMENT: SentStatement = { name: undefined, text: BEGIN, values: [] };
const COMMIT_STATEMENT: SentStatement = { name: undefined, text: 'commit', values: [] };

export interface ConnectionCounts {
  open: number;
  idle: number;
  max: number;
  /** Callers that wait for a connection. */
  waiting: number;
}

export class ConnectionPool {
  readonly #options: PostgresOptions;
  readonly #pool: pg.Pool;
  /** Whether the tables are distributed over several servers (Citus). */
  readonly isDistributed: boolean;
  /** Time limit of `run`, including retries. */
  readonly #totalTimeoutMs: number;
  readonly #open = new Set<Connection>();
  readonly #eventQuota: EventQuota;
  readonly #hosts: Hosts;
  #generation = 0;
  #lastConflictAt = Number.NEGATIVE_INFINITY;
  /** Whether the server is unreachable, so that only the probe tries to connect. */
  #isCircuitOpen = false;
  #isRefusedUntil = 0;
  readonly #probe = new ReconnectProbe(async () => {
    (await this.#connectToPrimary(performance.now() + this.#totalTimeoutMs)).release();
    this.#isCircuitOpen = false;
  });

  constructor(options: PostgresOptions) {
    const config = clientConfig(options);
    this.#options = options;
    this.#hosts = config.hosts;
    this.isDistributed = options.isCitus ?? false;
    this.#totalTimeoutMs = config.query_timeout;
    this.#eventQuota = new EventQuota(options.eventQuota ?? NO_EVENT_QUOTA);
    this.#pool = new pg.Pool({
      ...config,
      Client: poolClientClass(Connection),
      max: options.poolSize,
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    });
    reportConstructorErrors(this.#pool);
    // The pool has removed the connection already; without a listener the process would crash.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#welcome(client as unknown as Connection));
  }

  get counts(): ConnectionCounts {
    const { totalCount: open, idleCount: idle, waitingCount: waiting } = this.#pool;
    return { open, idle, max: this.#options.poolSize, waiting };
  }

  /**
   * Runs `work` on one connection, each pipeline a transaction of its own. Transient errors are retried, so the work
   * must be idempotent. Throws `TransientError`.
   */
  run<Result>(work: Work<Result>): Promise<Result> {
    return this.#tryOnConnections((client, attempt) => work(this.#session(client, attempt)), true);
  }

  /** Runs `work` in one transaction; retries it if nothing was applied, or if `isRepeatable`. */
  transaction<Result>(work: Work<Result>, isRepeatable: boolean): Promise<Result> {
    return this.#tryOnConnections((client, attempt) => this.#transact(client, attempt, work), isRepeatable);
  }

  async close(): Promise<void> {
    await this.#pool.end();
    // The server may never acknowledge the termination; the process does not wait for it.
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
    const totalTimeoutMs = this.#totalTimeoutMs;
    return retry((attempt) => this.#onConnection(work, attempt), { isRepeatable, totalTimeoutMs });
  }

  async #onConnection<Result>(
    work: (client: Client, attempt: Attempt) => Promise<Result>,
    attempt: Attempt,
  ): Promise<Result> {
    const client = await this.#acquire(attempt.deadline);
    try {
      const result = await work(client, attempt);
      client.release();
      this.#options.observer?.available();
      return result;
    } catch (error) {
      this.#releaseAfter(error, client);
      throw error;
    }
  }

  #releaseAfter(error: unknown, client: Client): void {
    if (!(error instanceof TransientError)) {
      discard(client);
      return;
    }
    if (error.outcome === 'conflict') this.#lastConflictAt = performance.now();
    if (error.isReadOnly) this.#hosts.skip(client.url);
    if (error.connection === 'good') {
      client.release();
      return;
    }
    if (client.generation === this.#generation && invalidatesPool(error, client)) {
      this.#generation++;
      this.#isCircuitOpen ||= error.isUnresponsive;
    }
    discard(client);
  }

  async #acquire(deadline: number): Promise<Client> {
    try {
      if (this.#isCircuitOpen) await this.#probe.wait();
      return await this.#connectToPrimary(deadline);
    } catch (error) {
      const failure = connectError(error);
      this.#recordConnectFailure(failure);
      throw failure;
    }
  }

  #recordConnectFailure(failure: TransientError): void {
    if (failure.isBusy || this.#pool.ending) return;
    const { observer } = this.#options;
    const isRefused = failure.isConnectionLimit || !failure.isTransient;
    if (isRefused) this.#isRefusedUntil = performance.now() + REFUSED_PAUSE_MS;
    if (isRefused && this.#open.size > 0) {
      observer?.connectionRefused(failure.message);
      return;
    }
    this.#isCircuitOpen = true;
    observer?.unavailable(failure.message);
  }

  #connectToPrimary(deadline: number): Promise<Client> {
    return this.#hosts.tryEach(() => this.#connectToHost(deadline));
  }

  /** Throws if the host of the next connection is unreachable or not the primary. */
  async #connectToHost(deadline: number): Promise<Client> {
    const isRefused = performance.now() < this.#isRefusedUntil;
    // Wait for one of the existing connections instead of opening another.
    const { poolSize } = this.#options;
    const open = Math.min(Math.max(1, this.#open.size), poolSize);
    setMaxConnections(this.#pool, isRefused ? open : poolSize);
    for (;;) {
      const client = await this.#connect(deadline);
      try {
        await client.requirePrimary(remainingMs(deadline));
        if (client.generation === this.#generation && !client.isFormerPrimary) return client;
      } catch (error) {
        discard(client);
        throw error;
      }
      discard(client);
    }
  }

  async #connect(deadline: number): Promise<Client> {
    const connecting = this.#pool.connect() as unknown as Promise<Client>;
    // The pool has its own connect timeout, which is shorter except in retries.
    if (deadline - performance.now() >= this.#options.connectTimeoutMs) return connecting;
    try {
      return await withDeadline(
        deadline,
        connecting,
        () => new NoFreeConnection('timed out waiting for a free connection'),
      );
    } catch (error) {
      // If it connects after all, it goes back to the pool.
      connecting.then((client) => client.release()).catch(() => {});
      throw error;
    }
  }

  async #transact<Result>(client: Client, attempt: Attempt, work: Work<Result>): Promise<Result> {
    const session = this.#session(client, attempt, [BEGIN_STATEMENT]);
    let result: Result;
    try {
      result = await this.#orRollBack(client, attempt, work(session));
    } catch (error) {
      throw errorBeforeCommit(error);
    }
    const command = await this.#commit(client, attempt, session.last);
    // PostgreSQL reports no error for the commit of a failed transaction: it rolls back.
    if (command !== 'COMMIT') throw new Error(`PostgreSQL answered COMMIT with ${command}`);
    return result;
  }

  /** Rolls back if the work fails and the connection survives, so that the connection can be reused. */
  async #orRollBack<Result>(client: Client, attempt: Attempt, work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof TransientError && error.connection === 'good') {
        await this.#end(client, attempt, 'rollback');
      }
      throw error;
    }
  }

  /** Returns the command that the server confirms. */
  #commit(client: Client, attempt: Attempt, last: readonly PendingStatement[]): Promise<string> {
    if (last.length === 0) return this.#end(client, attempt, 'commit');
    const statements = [...last.map((each) => this.#toSent(each)), COMMIT_STATEMENT];
    const committing = this.#send(attempt.deadline, async (timeoutMs) => {
      const pipeline = new Pipeline(statements, timeoutMs);
      await client.query(pipeline).results;
      return pipeline.command;
    });
    return this.#orRollBack(client, attempt, committing);
  }

  /** Returns the command that the server confirms. */
  async #end(client: Client, { deadline }: Attempt, text: 'commit' | 'rollback'): Promise<string> {
    const send = (query_timeout: number) => client.query({ text, query_timeout } as pg.QueryConfig);
    return (await this.#send(deadline, send)).command;
  }

  /** `opening` is sent in the first pipeline. */
  #session(
    client: Client,
    { deadline, isRepetition }: Attempt,
    opening: readonly SentStatement[] = [],
  ): Session {
    let unsent = opening;
    const state = {
      isRepetition,
      isContended: performance.now() - this.#lastConflictAt < CONTENDED_MS,
      isDistributed: this.isDistributed,
      eventQuota: this.#eventQuota,
    };
    return new Session(async (pending) => {
      const before = unsent;
      unsent = [];
      const statements = [...before, ...pending.map((each) => this.#toSent(each))];
      const results = await this.#send(
        deadline,
        (timeoutMs) => client.query(new Pipeline(statements, timeoutMs)).results,
      );
      return results.slice(before.length);
    }, state);
  }

  #toSent({ statement: { name, sql }, values }: PendingStatement): SentStatement {
    const text = this.isDistributed ? nameShards(sql) : sql;
    return { name: this.#options.preparedStatements ? name : undefined, text, values };
  }

  async #send<Result>(deadline: number, send: (timeoutMs: number) => Promise<Result>): Promise<Result> {
    const timeoutMs = remainingMs(deadline);
    try {
      return await send(timeoutMs);
    } catch (error) {
      // The error was created where the response was read; the caller's stack is more useful.
      if (error instanceof Error) Error.captureStackTrace(error);
      throw statementError(error, timeoutMs > this.#options.statementTimeoutMs);
    }
  }
}

/** Whether the other connections to the server are probably lost too. */
function invalidatesPool({ connection, isReadOnly }: TransientError, { ageMs }: Client): boolean {
  return connection === 'all lost' && !(isReadOnly && ageMs < FRESH_CONNECTION_MS);
}

/** At least 1: for `pg`, 0 means no timeout. */
function remainingMs(deadline: number): number {
  return Math.max(1, deadline - performance.now());
}

function discard(client: Client): void {
  client.abandon();
  client.release(true);
}
