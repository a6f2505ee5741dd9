// The store as operations use it: one query or command at a time, batched behind the scenes.

import { UNLIMITED } from '../domain/document.ts';
import { isSameTenant, type Tenant, tenantName } from '../domain/tenant.ts';
import { isSameAddress } from '../domain/token.ts';
import {
  isSameKey,
  keyToString,
  type UserGroupKey,
  userGroupKey,
  valuesLength,
} from '../domain/user-group/user-group.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import type { TenantActivity } from '../scheduling/tenant-activity.ts';
import type { ThreadSum } from '../scheduling/thread-sum.ts';
import { withDeadline } from '../scheduling/timeout.ts';
import { type Access, Admission, ListCooldown } from './admission.ts';
import { Batcher, type BatchLimits, type BatchObserver, waitedTooLong } from './batcher.ts';
import {
  type Command,
  type CommandKind,
  type CommandResult,
  type DocumentChange,
  type Query,
  type QueryKind,
  type QueryResult,
  type Recorded,
  StartedTooLate,
  type Store,
  StoreUnavailable,
} from './port.ts';
import { countInResult } from './result-size.ts';

type List =
  | Exclude<Extract<QueryKind, `${'list' | 'scan' | 'search'}${string}`>, 'listTokenKeyIds'>
  | 'findUserGroups'
  | 'countUserGroups'
  | 'countRows'
  | 'findFirstFailedAt';

/** Queries that read many rows. Each is its own batch, so that no lookup waits for more than one of them. */
const LISTS: ReadonlySet<string> = new Set(
  Object.keys({
    listUserGroups: true,
    listUserGroupSummaries: true,
    searchUserGroups: true,
    findUserGroups: true,
    scanUserGroups: true,
    countUserGroups: true,
    countRows: true,
    listApiTokens: true,
    listNewestApiTokens: true,
    listWorkspaces: true,
    scanDocuments: true,
    listEvents: true,
    scanRenames: true,
    listDeliveries: true,
    findFirstFailedAt: true,
    scanDeliveries: true,
    scanFailingEndpoints: true,
    listUsageOfDay: true,
    listUsageOfUserGroup: true,
    scanUsage: true,
  } satisfies Record<List, true>),
);

/** Lookup of one group that may be sent before it is known to be needed. */
export type PrefetchQuery = Query<'findUserGroup' | 'findUserGroupByToken' | 'resolveToken'>;

function isSameQuery(prefetched: PrefetchQuery, query: Query): boolean {
  if (prefetched.kind === 'findUserGroup') {
    return query.kind === 'findUserGroup' && isSameKey(prefetched.key, query.key);
  }
  return (
    query.kind === prefetched.kind &&
    isSameAddress(prefetched.address, query.address) &&
    prefetched.tenant !== null &&
    query.tenant !== null &&
    isSameTenant(prefetched.tenant, query.tenant)
  );
}

/** Characters of JSON that take as long to store as one webhook delivery. */
const DELIVERY_CHARACTERS = 2_048;

const CHANGES_OF_DELIVERIES = ['retryFailedDeliveries', 'cancelDeliveries', 'deleteDeliveries'] as const;

/** The same for the round trips of a command that runs by itself: the whole batch waits for them. */
const SINGLE_CHARACTERS = 65_536;

/** The same for adding up the size of one stored document: a new one may not exceed the total of its kind. */
const ADDED_UP_CHARACTERS = 16;

/** Characters of JSON in a command, counting each delivery that it writes: one of its event to each webhook endpoint. */
function countCharacters(command: Command): number {
  if (changesDeliveries(command)) return command.limit * DELIVERY_CHARACTERS;
  if ('changes' in command) return countInChanges(command.changes);
  const inValues = 'properties' in command ? valuesLength(command) : 0;
  const inBody = 'body' in command ? command.body.length : 0;
  const inConfig = 'config' in command ? countInChanges(command.config.changes) : 0;
  const inTotal = command.kind === 'putDocument' ? countAddedUp(command) : 0;
  return inValues + inBody + inConfig + inTotal + ('event' in command ? countInDeliveries(command) : 0);
}

/** A document without a limit, such as a key set, is one of few. */
function countAddedUp({ limit: { documents } }: Command<'putDocument'>): number {
  return documents === UNLIMITED.documents ? 0 : documents * ADDED_UP_CHARACTERS;
}

function countInChanges(changes: readonly DocumentChange[]): number {
  return changes.reduce(
    (sum, { before, after, event }) =>
      sum + (before?.body.length ?? 0) + (after?.body.length ?? 0) + countInDeliveries({ event }),
    0,
  );
}

function changesDeliveries(command: Command): command is Command<(typeof CHANGES_OF_DELIVERIES)[number]> {
  return (CHANGES_OF_DELIVERIES as readonly string[]).includes(command.kind);
}

function countInDeliveries({ event }: Recorded): number {
  return (event?.endpoints.length ?? 0) * DELIVERY_CHARACTERS;
}

/**
 * Group or environment that a command locks until its commit. Two transactions that change one group collide, and one may
 * be retried; two that change one environment would wait in all batches, and with them the commands of other tenants.
 */
function changedBy(command: Command): string | undefined {
  switch (command.kind) {
    case 'updateUserGroup':
    case 'deleteUserGroup':
      return keyToString(command.key);
    case 'renameUserGroup':
    case 'putDocument':
    case 'deleteDocument':
      return tenantName(command.key);
    case 'changeConfig':
      return tenantName(command.tenant);
    case 'recordEvent':
      return tenantName(command.event);
    default:
      return undefined;
  }
}

/** Commands without an effect that a caller sees: ids that are not used, and deliveries without an endpoint. */
const PREPARATIONS: ReadonlySet<CommandKind> = new Set(['leaseIds', 'deleteDeliveries']);

type Refusable =
  | { [Kind in CommandKind]: 'version_mismatch' extends CommandResult<Kind> ? Kind : never }[CommandKind]
  | 'rotateToken'
  | 'rotateApiToken';

/** Commands that requests repeat after a conflict, and their results for one: it had no effect. */
const REFUSABLE: ReadonlySet<string> = new Set(
  Object.keys({
    updateUserGroup: true,
    deleteUserGroup: true,
    renameUserGroup: true,
    rotateToken: true,
    rotateApiToken: true,
    putDocument: true,
    deleteDocument: true,
    changeConfig: true,
  } satisfies Record<Refusable, true>),
);
const REFUSALS: ReadonlySet<CommandResult> = new Set([null, false, 'version_mismatch', 'stale'] as const);

/** Queues of the store. Each has its own batches. */
export type Queue = 'read' | 'list' | 'write';
export type BatchObservers = Record<Queue, BatchObserver>;
/** Queue length of each thread of a process; absent in a process with one serving thread. */
export type QueueLengths = Record<Queue, ThreadSum>;

export interface BatchingOptions {
  activity?: TenantActivity | undefined;
  batches?: BatchObservers | undefined;
  queueLengths?: QueueLengths | undefined;
  /** Called with the cause when a batch failed and its items are repeated one at a time. */
  onSplitBatch?: (error: unknown) => void;
}

/** Called with each command of this process; returns what to do once it is committed, or null. */
type WriteListener = (command: Command) => (() => void) | null;

interface Batchers {
  reads: Batcher<Query, QueryResult>;
  lists: Batcher<Query, QueryResult>;
  writes: Batcher<Command, CommandResult>;
  admission: Admission;
  onWrite: WriteListener | null;
}

export class BatchingStore {
  readonly #batchers: Batchers;
  readonly #startBy: number;
  readonly #tenant: number;
  #prefetched: { query: PrefetchQuery; result: Promise<QueryResult> } | null = null;

  /** Number of commands of this request that may have an effect. */
  #effects = 0;

  static create(
    store: Store,
    limits: { read: BatchLimits; write: BatchLimits },
    { activity, batches, queueLengths, onSplitBatch: onSplit }: BatchingOptions = {},
  ): BatchingStore {
    const read = (queries: Query[]) => store.read(queries);
    const cooldown = new ListCooldown();
    const optionsOf = (queue: Queue) => ({
      observer: batches?.[queue],
      queueLengths: queueLengths?.[queue],
      onSplit,
    });
    const reads = new Batcher(read, limits.read, {
      ...optionsOf('read'),
      activity,
      countInResult,
    });
    const lists = new Batcher(read, { ...limits.read, maxBatch: 1 }, { ...optionsOf('list'), cooldown });
    const writes = new Batcher((commands: Command[]) => store.write(commands), limits.write, {
      ...optionsOf('write'),
      activity,
      countCharacters: (command) =>
        countCharacters(command) + (store.executesSingly?.(command.kind) ? SINGLE_CHARACTERS : 0),
      countInResult,
      changedBy,
    });
    const admission = new Admission({ reads, lists, writes }, cooldown);
    return new BatchingStore(
      { reads, lists, writes, admission, onWrite: null },
      Number.POSITIVE_INFINITY,
      UNKNOWN_TENANT,
    );
  }

  private constructor(batchers: Batchers, startBy: number, tenant: number) {
    this.#batchers = batchers;
    this.#startBy = startBy;
    this.#tenant = tenant;
  }

  /**
   * Returns this store with a deadline for one request: what has not started by `startBy`
   * (`performance.now()`) never does, and throws `StoreUnavailable`. The adapter limits how long a started
   * command may run: one that ran on after its caller was told that it failed could undo a change
   * acknowledged since.
   */
  until(startBy: number, tenant = this.#tenant): BatchingStore {
    return new BatchingStore(this.#batchers, startBy, tenant);
  }

  /** Returns this store for the requests of one tenant, a workspace id. */
  forTenant(tenant: number): BatchingStore {
    return this.until(this.#startBy, tenant);
  }

  /** Whether this request has sent a command that may have an effect. */
  get hasWritten(): boolean {
    return this.#effects > 0;
  }

  onWrite(listener: WriteListener): void {
    this.#batchers.onWrite = listener;
  }

  /** Limits the promise to the deadline of this request. Drops the prefetched result: it is stale by then. */
  inTime<Result>(promise: Promise<Result>, timeoutError?: () => Error): Promise<Result> {
    this.#prefetched = null;
    if (this.#startBy === Number.POSITIVE_INFINITY) return promise;
    const since = performance.now();
    const result = withDeadline(this.#startBy, promise, timeoutError ?? (() => this.#lateSince(since)));
    return this.hasWritten ? afterWrite(result) : result;
  }

  /** Error for a wait since this time (`performance.now()`) for what other requests read and write. */
  #lateSince(since: number): Error {
    const { reads, writes } = this.#batchers;
    const queues = [reads, writes];
    const isBusy = queues.some((queue) => queue.isBusySince(since));
    return waitedTooLong(isBusy && !queues.some(({ isSilent }) => isSilent));
  }

  /** Returns the number of queries or commands that wait in each queue. */
  get queueLengths(): Record<Queue, number> {
    const { reads, lists, writes } = this.#batchers;
    return { read: reads.queued, list: lists.queued, write: writes.queued };
  }

  /** Whether a new request may enter; see `Admission`. */
  admits(access: Access, findTenant: () => number = () => this.#tenant): boolean {
    return this.#batchers.admission.admits(access, findTenant);
  }

  /** Whether an admitted request that has to write may do so. */
  admitsWrite(): boolean {
    return this.#batchers.admission.admitsWrite(() => this.#tenant);
  }

  /** Sends a query that this request is likely to make: the first `read` of the same query gets its result. */
  prefetch(query: PrefetchQuery): void {
    const result = this.read(query);
    // The request may never ask for it.
    result.catch(() => {});
    this.#prefetched = { query, result };
  }

  /** Returns the key of a group; reuses that of the prefetched lookup, to save computing a hash. */
  userGroupKey(tenant: Tenant, providedId: string): UserGroupKey {
    const query = this.#prefetched?.query;
    const known = query?.kind === 'findUserGroup' ? query.key : null;
    const isPrefetched = known?.providedId === providedId && isSameTenant(known, tenant);
    return isPrefetched ? known : userGroupKey(tenant, providedId);
  }

  read<Kind extends QueryKind>(query: Query<Kind>): Promise<QueryResult<Kind>> {
    const prefetched = this.#prefetched;
    if (prefetched !== null && isSameQuery(prefetched.query, query as Query)) {
      this.#prefetched = null;
      return prefetched.result as Promise<QueryResult<Kind>>;
    }
    const { lists, reads } = this.#batchers;
    const batcher = LISTS.has(query.kind) ? lists : reads;
    const found = batcher.submit(query as Query, { startBy: this.#startBy, tenant: this.#tenant });
    return (this.hasWritten ? afterWrite(found) : found) as Promise<QueryResult<Kind>>;
  }

  write<Kind extends CommandKind>(command: Command<Kind>): Promise<CommandResult<Kind>> {
    // The write makes it stale.
    this.#prefetched = null;
    // Every create waits for a lease of these ids.
    const sent: Command = command as Command;
    const isUrgent = sent.kind === 'leaseIds' && sent.sequence === 'team_id';
    const { writes } = this.#batchers;
    const written = writes.submit(sent, {
      startBy: this.#startBy,
      isUrgent,
      tenant: this.#tenant,
    });
    const committed = this.#batchers.onWrite?.(sent);
    if (committed) written.then(committed, () => {});
    const isLater = this.hasWritten;
    if (!PREPARATIONS.has(sent.kind)) this.#effects++;
    if (REFUSABLE.has(sent.kind))
      written.then(
        (result) => REFUSALS.has(result) && this.#effects--,
        () => {},
      );
    return (isLater ? afterWrite(written) : written) as Promise<CommandResult<Kind>>;
  }
}

/** A call of a request that has written. That it never started does not mean that the request had no effect. */
function afterWrite<Result>(call: Promise<Result>): Promise<Result> {
  return call.catch((error) => {
    throw error instanceof StartedTooLate ? new StoreUnavailable(error.message) : error;
  });
}
