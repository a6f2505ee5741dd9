// Runs one unit of work on one connection. Queries made together travel in one pipeline: one round trip.

import type { EventQuota } from '../../../domain/event/quota.ts';
import type { Call, Statement } from '../../statement.ts';
import type { Steps } from '../../steps.ts';

export interface PendingStatement {
  statement: Statement;
  values: readonly unknown[];
}

interface PendingQuery extends PendingStatement {
  resolve: (rows: unknown[][]) => void;
  reject: (error: unknown) => void;
}

type AwaitedAll<Results> = { -readonly [Index in keyof Results]: Awaited<Results[Index]> };

type SessionState = Pick<Session, 'isRepetition' | 'isContended' | 'isDistributed' | 'eventQuota'>;

export class Session {
  /** Whether an earlier attempt may have done the same work and lost the response. */
  readonly isRepetition: boolean;
  /** Whether changes have just collided, so that others probably will. */
  readonly isContended: boolean;
  /** Whether the tables are distributed over several servers (Citus). */
  readonly isDistributed: boolean;
  readonly eventQuota: EventQuota;
  readonly #send: (statements: readonly PendingStatement[]) => Promise<unknown[][][]>;
  #pending: PendingQuery[] = [];
  /** Number of calls of `pipelined` that are collecting queries. */
  #collecting = 0;
  #isInFlight = false;
  #failure: { error: unknown } | null = null;

  /** `send` returns the rows of each statement. */
  constructor(
    send: (statements: readonly PendingStatement[]) => Promise<unknown[][][]>,
    { isRepetition, isContended, isDistributed, eventQuota }: SessionState,
  ) {
    this.#send = send;
    this.isDistributed = isDistributed;
    this.isRepetition = isRepetition;
    this.isContended = isContended;
    this.eventQuota = eventQuota;
  }

  /** Returns the rows, each an array of its columns. Throws `TransientError`. */
  query(statement: Statement, values: readonly unknown[] = []): Promise<unknown[][]> {
    // After a failure the connection is back in the pool: a query would interleave with those of its next user.
    if (this.#failure !== null) return Promise.reject(this.#failure.error);
    return new Promise((resolve, reject) => {
      this.#pending.push({ statement, values, resolve, reject });
      this.#flush();
    });
  }

  async read<Result>({ statement, values, toResult }: Call<Result>): Promise<Result> {
    return toResult(await this.query(statement, values));
  }

  /** Sends each step in one pipeline. */
  async perform<Result>(steps: Steps<Result>): Promise<Result> {
    let step = steps.next();
    while (!step.done) {
      const statements = step.value;
      step = steps.next(await this.pipelined(() => statements.map((each) => this.read(each))));
    }
    return step.value;
  }

  /**
   * Sends the queries that `start` makes before it returns in one pipeline, in their order, and waits for all that it
   * started. Outside a transaction they are one transaction. Nested calls join the outer pipeline.
   */
  pipelined<Results extends readonly unknown[] | []>(start: () => Results): Promise<AwaitedAll<Results>> {
    this.#collecting++;
    try {
      return Promise.all(start());
    } finally {
      this.#collecting--;
      this.#flush();
    }
  }

  /**
   * Sends the queries that `work` makes before its first `await` with the commit, which fails if one of them
   * does. Must be the last step of a transaction.
   */
  atCommit(work: () => Promise<unknown>): void {
    this.#collecting++;
    // The commit reports the failure.
    work().catch(() => {});
  }

  /** The queries that travel with the commit. */
  get last(): readonly PendingStatement[] {
    return this.#pending;
  }

  #flush(): void {
    if (this.#collecting === 0 && !this.#isInFlight && this.#pending.length > 0) void this.#sendPending();
  }

  async #sendPending(): Promise<void> {
    const queries = this.#pending;
    this.#pending = [];
    this.#isInFlight = true;
    try {
      const results = await this.#send(queries);
      for (const [index, { resolve }] of queries.entries()) resolve(results[index]!);
    } catch (error) {
      this.#failure = { error };
      for (const { reject } of queries.concat(this.#pending.splice(0))) reject(error);
    }
    this.#isInFlight = false;
    this.#flush();
  }
}
