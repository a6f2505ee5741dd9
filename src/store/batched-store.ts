// The store as operations use it: one query or one command at a time. What each waits in, and what is let in at all.

import { isSameAddress } from '../domain/token.ts';
import { isSameKey } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';
import { Batcher, type BatchLimits, tooLate } from './batcher.ts';
import { settledBy } from './deadline.ts';
import type { Command, CommandKind, CommandResult, Query, QueryKind, QueryResult, Store } from './store.ts';

/** Where one more would wait for longer, no new work is let in: a longer queue serves nobody sooner. */
const MAX_WAIT_MS = 100;
/** A page takes as long as hundreds of look-ups, and who reads a list is no viewer who waits. */
const MAX_LIST_WAIT_MS = 500;
/** For those that are in already, and have waited to read: it is too late to turn them away. */
const MAX_WRITE_WAIT_MS = 500;

/** While others call, lists rest for so many times as long as they keep the event loop: they have a tenth of it. */
const REST = 9;
/** A process that was stopped in the middle of a list, or had no time, takes that for the list's; nobody waits for it. */
const MAX_REST_MS = 500;
/** Others who call so often. */
const OTHERS_EVERY_MS = 1_000;

/** What a request wants of the store; either: it reads, and then may have to write. */
export type Access = 'read' | 'list' | 'write' | 'either';

/** They read many rows: each is a batch of its own, so that no look-up waits for more than one of them. */
const LISTS: ReadonlySet<QueryKind> = new Set<QueryKind>([
  'searchUserGroups',
  'listUserGroups',
  'countUserGroups',
  'listApiTokens',
  'listWorkspaces',
]);

/** One for all: there is no time for a stack each. */
const OVERLOADED = new Problem('overloaded', 'Too many requests wait for the database. Try again shortly.', {
  retryAfterSeconds: 1,
});

/** What one group is looked up by. */
export type Foreseeable = Query<'findUserGroup' | 'findUserGroupByToken'>;

function isSame(foreseen: Foreseeable, query: Query): boolean {
  if (foreseen.kind === 'findUserGroup') {
    return query.kind === 'findUserGroup' && isSameKey(foreseen.key, query.key);
  }
  return query.kind === 'findUserGroupByToken' && isSameAddress(foreseen.address, query.address);
}

interface Batchers {
  reads: Batcher<Query, QueryResult>;
  lists: Batcher<Query, QueryResult>;
  writes: Batcher<Command, CommandResult>;
  /** When anything but a list was asked for last. */
  others: { calledAt: number };
}

export class BatchedStore {
  readonly #batchers: Batchers;
  readonly #startBy: number;
  #foreseen: { query: Foreseeable; answer: Promise<QueryResult> } | null = null;

  static of(store: Store, limits: { read: BatchLimits; write: BatchLimits }): BatchedStore {
    const read = (queries: Query[]) => store.read(queries);
    const reads = new Batcher(read, limits.read);
    const writes = new Batcher((commands: Command[]) => store.write(commands), limits.write);
    const others = { calledAt: Number.NEGATIVE_INFINITY };
    const restAfter = (activeMs: number): number =>
      performance.now() - others.calledAt < OTHERS_EVERY_MS ? Math.min(activeMs * REST, MAX_REST_MS) : 0;
    const lists = new Batcher(read, { ...limits.read, maxBatch: 1, restAfter });
    return new BatchedStore({ reads, lists, writes, others }, Number.POSITIVE_INFINITY);
  }

  private constructor(batchers: Batchers, startBy: number) {
    this.#batchers = batchers;
    this.#startBy = startBy;
  }

  /**
   * The same store for one request: what it has not begun with by then it never does, and throws `StoreUnavailable`.
   * How long it may take with what it has begun is the adapter's to limit: a command that runs on when its caller has
   * been told that it failed could undo what was acknowledged since.
   */
  until(startBy: number): BatchedStore {
    return new BatchedStore(this.#batchers, startBy);
  }

  /** As the promise, where it settles before it is too late. What was foreseen is old by then. */
  inTime<Result>(promise: Promise<Result>): Promise<Result> {
    this.#foreseen = null;
    return this.#startBy === Number.POSITIVE_INFINITY ? promise : settledBy(this.#startBy, promise, tooLate);
  }

  /**
   * Asked before any work is done for a request. What is let in is not turned away later: nothing is done in vain,
   * and who is refused knows at once. Throws `overloaded`.
   */
  admit(access: Access): void {
    const { reads, lists, writes, others } = this.#batchers;
    if (access !== 'list') others.calledAt = performance.now();
    if (reads.isLongerThan(MAX_WAIT_MS)) throw OVERLOADED;
    if (access === 'list' && lists.isLongerThan(MAX_LIST_WAIT_MS)) throw OVERLOADED;
    if (access === 'read' || access === 'list' || !writes.isLongerThan(MAX_WAIT_MS)) return;
    // Where reads are quick, who need not write is served while others wait to.
    if (access === 'write' || !reads.isQuick) throw OVERLOADED;
  }

  /** Asked by a request that has found out that it has to write. Throws `overloaded`. */
  admitWrite(): void {
    if (this.#batchers.writes.isLongerThan(MAX_WRITE_WAIT_MS)) throw OVERLOADED;
  }

  /** Asks what this request is going to ask: the first `read` of the same query has the answer to this one. */
  foresee(query: Foreseeable): void {
    const answer = this.read(query);
    // Nobody may ever ask.
    answer.catch(() => {});
    this.#foreseen = { query, answer };
  }

  read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    const foreseen = this.#foreseen;
    if (foreseen !== null && isSame(foreseen.query, query as Query)) {
      this.#foreseen = null;
      return foreseen.answer as Promise<QueryResult<Kind>>;
    }
    const { lists, reads } = this.#batchers;
    const batcher = LISTS.has(query.kind) ? lists : reads;
    return batcher.submit(query as Query, this.#startBy) as Promise<QueryResult<Kind>>;
  }

  write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    // What was asked before is not the answer any more.
    this.#foreseen = null;
    // Whatever creates waits for a lease.
    const isUrgent = command.kind === 'leaseIds';
    const { writes } = this.#batchers;
    return writes.submit(command as Command, this.#startBy, isUrgent) as Promise<CommandResult<Kind>>;
  }
}
