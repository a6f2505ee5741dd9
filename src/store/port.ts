// The port between operations and databases. An adapter takes a list of queries or commands and returns the list of
// their results, in the same order. It contains no rules and throws no `Problem`.

import type { ApiToken, FoundApiToken } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import type { Document, DocumentKey, DocumentTotal } from '../domain/document.ts';
import type { EventList } from '../domain/event/cursor.ts';
import type { EventKey, EventPosition, NewEvent, PositionRange, StoredEvent } from '../domain/event/event.ts';
import type { JsonText } from '../domain/json/strict-json.ts';
import type { Precondition } from '../domain/precondition.ts';
import type { SealedSecret } from '../domain/secret.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { TokenAddress, TokenDigest } from '../domain/token.ts';
import type { Day, UsageCount, UsagePosition } from '../domain/usage.ts';
import type { Position, UserGroupList } from '../domain/user-group/cursor.ts';
import type { Rename } from '../domain/user-group/rename.ts';
import type { SettableFields, UserGroup, UserGroupKey, VersionTag } from '../domain/user-group/user-group.ts';
import type { Filterable, ReadFields } from '../domain/user-group/user-group-filter.ts';
import type {
  Delivery,
  DeliveryKey,
  DueRange,
  EndpointPosition,
  FinishedAttempt,
  WebhookEndpointKey,
} from '../domain/webhook-endpoint/delivery.ts';
import type { CopiedTable } from './tables.ts';

export interface Store {
  /**
   * Each query sees everything that was committed before the call. Answers at least the first query, but not
   * all if their rows would block the event loop for too long. Throws `StoreUnavailable`.
   */
  read(queries: readonly Query[]): Promise<QueryResult[]> | QueryResult[];
  /**
   * Executes at least the first command, but not all if they would keep the others waiting for too long. Each
   * is atomic, and durable when the promise resolves. A batch that rejects with anything but
   * `StoreUnavailable` has changed nothing. Throws `StoreUnavailable`.
   */
  write(commands: readonly Command[]): Promise<CommandResult[]>;
  /** Whether each command of the kind needs round trips of its own, even in a batch; absent if none does. */
  executesSingly?(kind: CommandKind): boolean;
  close(): Promise<void>;
}

/** Store whose database was migrated when it was opened. */
export interface MigratedStore extends Store {
  /** Message that a newer version has migrated the database; null if none has. */
  newerVersion: string | null;
}

/** The database is unreachable or failing; a retry may succeed. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';

  /** Whether it may resolve itself without an operator, as when the database starts after the service. */
  get isTransient(): boolean {
    return false;
  }
}

/** The request ran out of time before it had changed anything. */
export class StartedTooLate extends StoreUnavailable {}

/** The same because the queue was paused or long, although the database answered. */
export class WaitedTooLong extends StartedTooLate {}

/** Observes the availability of the database. Called on each success and failure, not only on changes. */
export interface StoreObserver {
  /** Connecting failed. */
  unavailable(reason: string): void;
  /** The server refused a further connection; the open ones serve requests. */
  connectionRefused(reason: string): void;
  /** The database responded. */
  available(): void;
}

/** Each query as a function from its parameters to its result. */
interface Queries {
  /** null if there is none. */
  findApiToken(query: { digest: TokenDigest }): FoundApiToken | null;
  /** Searches every workspace. */
  findApiTokenById(query: { apiTokenId: number }): ApiTokenRow | null;
  findUserGroup(query: { key: UserGroupKey }): UserGroup | null;
  /** The tenant's group, or any if it is null, whose current or last replaced token has this digest; null if none has. */
  findUserGroupByToken(query: { address: TokenAddress; tenant: Tenant | null }): UserGroup | null;
  /** The same, but null unless the group is the tenant's, not suspended, and the token valid at `now`. */
  resolveToken(query: { address: TokenAddress; tenant: Tenant; now: number }): UserGroup | null;
  /** The same two lookups by the marked digest of a token that does not encode the bucket of its group. */
  findUserGroupByImportedToken(query: { digest: TokenDigest; tenant: Tenant | null }): UserGroup | null;
  resolveImportedToken(query: { digest: TokenDigest; tenant: Tenant; now: number }): UserGroup | null;
  /** The bucket of the group that has the imported token; null if there is none. */
  findImportedToken(query: { digest: TokenDigest }): Bucket | null;
  /** API tokens of one workspace and environment, or of the installation, in the order of their ids. */
  listApiTokens(query: { tenant: Tenant | null; after: number; limit: number }): ApiTokenRow[];
  /** Either the revoked API tokens or the others, with ids below `before`, newest first. */
  listNewestApiTokens(query: {
    tenant: Tenant;
    before: number;
    isRevoked: boolean;
    limit: number;
  }): ApiToken[];
  findWorkspace(query: { name: string }): Workspace | null;
  /** Workspaces in the order of their names, after `after`; from the first if it is null. */
  listWorkspaces(query: { after: string | null; limit: number }): Workspace[];
  /** The ids of the keys that stored tokens may be encrypted with. */
  listTokenKeyIds(query: object): string[];
  /** All groups in key order, after `after`; from the first if it is null. */
  scanUserGroups(query: { after: UserGroupKey | null; limit: number }): UserGroup[];
  /** A page of one list, starting at a position in its order; `isEnd` if no more follow. */
  listUserGroups(query: UserGroupSearch): { userGroups: UserGroup[]; isEnd: boolean };
  /** The same with only the fields that a filter needs; those that are not read are null. */
  listUserGroupSummaries(query: UserGroupSearch & ReadFields): {
    summaries: UserGroupSummary[];
    isEnd: boolean;
  };
  /**
   * Groups that may have a text in their id or name. Includes all groups with non-ASCII characters, whose
   * case databases do not fold.
   */
  searchUserGroups(query: UserGroupTextSearch): UserGroupCandidates;
  /** The group of each key; null if there is none. */
  findUserGroups(query: { keys: readonly UserGroupKey[] }): (UserGroup | null)[];
  /** Counts the groups of one workspace and environment. */
  countUserGroups(query: { tenant: Tenant }): number;
  /** Counts the rows of the installation. */
  countRows(query: { table: CopiedTable }): number;
  /** The documents of one environment, with the version that every change of one increments. */
  findConfig(query: { tenant: Tenant }): Config;
  findConfigVersion(query: { tenant: Tenant }): number;
  findDocument(query: { key: DocumentKey }): Document | null;
  /** All documents in key order, after `after`; from the first if it is null. */
  scanDocuments(query: { after: DocumentKey | null; limit: number }): Document[];
  /** A page of one feed or history. */
  listEvents(query: EventSearch): EventPage;
  findEvent(query: { key: EventKey }): StoredEvent | null;
  /** Whether there are more events than this with the id of a group. */
  hasMoreEvents(query: { key: UserGroupKey; than: number }): boolean;
  /** The last rename of a group from or to the id before this position; null if there is none. */
  findLastRename(query: { key: UserGroupKey; before: number }): Rename | null;
  /** The first rename of a group from or to the id at this position or a later one; null if there is none. */
  findNextRename(query: { key: UserGroupKey; from: number }): Rename | null;
  /** All renames in the order of environments and positions, after `after`; from the first if it is null. */
  scanRenames(query: { after: Rename | null; limit: number }): Rename[];
  findDelivery(query: { endpoint: WebhookEndpointKey; eventId: string }): Delivery | null;
  /**
   * Deliveries to one webhook endpoint, the newest first, before the event `before`; from the newest if it is
   * null. With `isFailed`, only those that have failed.
   */
  listDeliveries(query: {
    endpoint: WebhookEndpointKey;
    before: string | null;
    limit: number;
    isFailed: boolean;
  }): Delivery[];
  /** When the event of the oldest failed delivery occurred; null if none has failed. */
  findFirstFailedAt(query: { endpoint: WebhookEndpointKey }): number | null;
  /** All deliveries in key order, after `after`; from the first if it is null. */
  scanDeliveries(query: { after: DeliveryKey | null; limit: number }): Delivery[];
  /** All endpoints whose last delivery did not succeed, in key order, after `after`; from the first if it is null. */
  scanFailingEndpoints(query: { after: WebhookEndpointKey | null; limit: number }): FailingEndpoint[];
  /** The first webhook endpoint after `after` that has deliveries, whether or not it exists; or null. */
  findNextEndpoint(query: { after: EndpointPosition }): WebhookEndpointKey | null;
  /** The first webhook endpoint after `after` that has pending deliveries, and when its first one is due; or null. */
  findPendingEndpoint(query: { after: EndpointPosition }): PendingEndpoint | null;
  countPendingDeliveries(query: { atMost: number }): number;
  /** Counts at most `atMost` pending deliveries. */
  findEndpointHealth(query: { endpoint: WebhookEndpointKey; atMost: number }): EndpointHealth;
  /** Counts of one day, in the order of user groups, after the group `after`. */
  listUsageOfDay(query: { tenant: Tenant; day: Day; after: string; limit: number }): UsageCount[];
  /** Counts of one user group, in the order of days, from `from` to `to`. */
  listUsageOfUserGroup(query: { key: UserGroupKey; from: Day; to: Day; limit: number }): UsageCount[];
  /** All counts in the order of `USAGE_POSITION`, after `after`; from the first if it is null. */
  scanUsage(query: { after: UsagePosition | null; limit: number }): UsageCount[];
  /** The first environment after `after` that has usage; null if there is none. */
  findNextTenantWithUsage(query: { after: Tenant | null }): TenantWithUsage | null;
  /** Stored figures of the environment; null if there are none. */
  findFigures(query: { tenant: Tenant }): StoredFigures | null;
  /** The first environment after `after` that has events; null if there is none. */
  findNextTenant(query: { after: Tenant | null }): TenantWithEvents | null;
  /** The position of the last deleted event, or a later one: readers may have seen events up to it. */
  findEventFloor(query: object): number;
  /** The oldest transaction that the feed of events waits for, on PostgreSQL; null if there is none. */
  findFeedBlocker(query: object): number | null;
  /** The number of the schema. Fails if the database does not respond. */
  ping(query: object): number;
}

/** Each command as a function from its parameters to its result. */
interface Commands {
  /**
   * Creates the group if its key is free; otherwise returns the existing one. `unsettled` if neither worked,
   * because the group was deleted at that moment or the database has lost the lease of its id: no id of the
   * lease may be used again.
   */
  createUserGroup(command: NewUserGroup): { created: boolean; userGroup: UserGroup } | 'unsettled';
  /** The same with an existing token; `token_taken` if it is another group's current or last replaced token. */
  importUserGroup(
    command: ImportedUserGroup,
  ): { created: boolean; userGroup: UserGroup } | 'token_taken' | 'workspace_not_found' | 'unsettled';
  updateUserGroup(command: UserGroupUpdate): UserGroup | 'not_found' | 'version_mismatch';
  /** `stale` if its stored token has changed from `expected`. */
  deleteUserGroup(command: UserGroupDeletion): 'deleted' | 'not_found' | 'version_mismatch' | 'stale';
  /**
   * Gives the group the key `to`. `stale` if its stored token has changed from `expected`, or if the
   * configuration has changed.
   */
  renameUserGroup(
    command: UserGroupRename,
  ): UserGroup | 'not_found' | 'version_mismatch' | 'id_taken' | 'stale';
  /** Replaces the token if it is still current and the precondition is met; otherwise returns null. */
  rotateToken(command: TokenRotation): UserGroup | null;
  /** Replaces the ciphertext by one with another key if it is still `expected`; returns whether it was. */
  resealToken(command: { key: UserGroupKey; expected: SealedSecret; sealedToken: SealedSecret }): boolean;
  /** Reserves `count` consecutive ids. */
  leaseIds(command: { sequence: IdSequence; count: number }): LeasedIds;
  /** Creates the workspace unless the name exists; returns it. */
  ensureWorkspace(command: { workspaceId: number; name: string; now: number }): {
    created: boolean;
    workspace: Workspace;
  };
  /** Renames the workspace if its name is still `from`. */
  renameWorkspace(command: {
    workspaceId: number;
    from: string;
    to: string;
  }): 'renamed' | 'not_found' | 'name_taken';
  /**
   * Deletes the workspace and its API tokens if it has no user groups, every API token ended before
   * `endedBefore`, and its events and usage have been deleted. Nothing can be created in it concurrently: API
   * tokens and imports lock the workspace.
   */
  deleteWorkspace(command: {
    workspaceId: number;
    endedBefore: number;
  }): 'deleted' | 'not_found' | 'has_user_groups' | 'has_api_tokens' | 'has_history';
  /**
   * Creates nothing if the workspace does not exist, if another API token has the digest, or if `limit` others of its
   * workspace and environment are active.
   */
  createApiToken(
    command: ApiToken & { limit?: number } & Recorded,
  ): 'created' | 'workspace_not_found' | 'digest_taken' | 'limit_reached';
  /** Returns whether the token exists. Revoking a revoked token keeps the first time and records no event. */
  revokeApiToken(command: { apiTokenId: number; now: number } & Recorded): boolean;
  /** Replaces the text if it is current and the token is not revoked; returns whether it did. */
  rotateApiToken(command: ApiTokenRotation): boolean;
  /** Creates or replaces the document, unless it exceeds a limit of its kind. */
  putDocument(
    command: DocumentReplacement,
  ): { created: boolean; document: Document } | 'version_mismatch' | `${keyof DocumentTotal}_limit_reached`;
  deleteDocument(
    command: { key: DocumentKey; precondition?: Precondition | undefined } & Recorded,
  ): 'deleted' | 'not_found' | 'version_mismatch';
  /**
   * Makes all changes, or none if the configuration of the environment has another version. Returns the new version,
   * which is the same without changes.
   */
  changeConfig(command: {
    tenant: Tenant;
    version: number;
    changes: readonly DocumentChange[];
  }): number | 'version_mismatch';
  /** Replaces the ciphertext by one with another key if it is still `expected`; returns whether it was. */
  resealDocument(command: { key: DocumentKey; expected: SealedSecret; secret: SealedSecret }): boolean;
  /** Stores documents of another database unchanged; skips those whose key exists. */
  copyDocuments(command: { documents: readonly Document[] }): void;
  /** Stores events of another database, whose order is kept. */
  copyEvents(command: { events: readonly StoredEvent[] }): void;
  /** Gives new events positions after `floor`. */
  raiseEventFloor(command: { floor: number }): void;
  /** Stores deliveries of copied events; skips those whose key exists. */
  copyDeliveries(command: { deliveries: readonly Delivery[] }): void;
  /** Stores when tokens were last used. Does not change the version of a group. */
  markSeen(command: { userGroups: readonly SeenUserGroup[]; at: number }): void;
  markApiTokensUsed(command: { apiTokenIds: readonly number[]; at: number }): void;
  /** Adds each count to the stored one. Not repeatable. */
  addUsage(command: { counts: readonly UsageCount[] }): void;
  /** Stores counts of another database unchanged; skips those that exist. */
  copyUsage(command: { counts: readonly UsageCount[] }): void;
  /** Deletes up to `limit` counts of days before this one. */
  deleteOldUsage(command: { tenant: Tenant; before: Day } & DeletionBatch): DeletedRows;
  /**
   * Stores until when a process counts, and the result, if the time is still `expected`; returns whether it
   * was.
   */
  putFigures(command: {
    tenant: Tenant;
    expected: number | null;
    countingUntil: number;
    counted: NewFigures | null;
  }): boolean;
  /** Records an event that changes nothing. */
  recordEvent(command: { event: NewEvent }): void;
  /** Claims up to `limit` deliveries due in the range, earliest first, exclusively until `until`. */
  claimDeliveries(command: {
    endpoint: WebhookEndpointKey;
    due: DueRange;
    until: number;
    limit: number;
  }): ClaimedDeliveries;
  finishAttempts(command: { attempts: readonly FinishedAttempt[] }): void;
  /** Makes a delivery pending again and allows it every attempt again; returns whether it exists. */
  retryDelivery(command: { endpoint: WebhookEndpointKey; eventId: string; now: number }): boolean;
  /** Does the same for up to `limit` failed deliveries of events after `after`, in the order of their ids. */
  retryFailedDeliveries(command: {
    endpoint: WebhookEndpointKey;
    after: string;
    now: number;
    limit: number;
  }): RetriedDeliveries;
  /**
   * Fails up to `limit` pending deliveries if the document of the endpoint has the tag, null for none; returns
   * their number.
   */
  cancelDeliveries(command: {
    endpoint: WebhookEndpointKey;
    tag: VersionTag | null;
    error: string;
    limit: number;
  }): number;
  /** Deletes up to `limit` deliveries, unless the endpoint exists; returns their number. */
  deleteDeliveries(command: { endpoint: WebhookEndpointKey; limit: number }): number;
  /** Stores the first failure since the last success; null for a success. Returns the stored time. */
  setFailingSince(command: { endpoint: WebhookEndpointKey; since: number | null }): number | null;
  /** Stores renames of another database unchanged; skips those whose key exists. */
  copyRenames(command: { renames: readonly Rename[] }): void;
  /**
   * Deletes those of the `limit` oldest events that occurred before `before`, and earlier renames. With
   * `now`, looks through the `AHEAD_EVENTS` oldest ones instead, and also deletes those before an old event
   * that are dated later than `now`: a clock that was ahead recorded them.
   */
  deleteOldEvents(command: { tenant: Tenant; before: number; now?: number } & DeletionBatch): DeletedRows;
  /** Deletes up to `limit` deliveries of events before `before`, which cannot be delivered without their events. */
  deleteOldDeliveries(command: { endpoint: WebhookEndpointKey; before: number } & DeletionBatch): DeletedRows;
  /**
   * Removes the changes from up to `limit` of the next `scanLimit` events with the id of a group in the range.
   * Returns the position of the last event that has none now; null if the range has no event.
   */
  eraseChanges(command: {
    key: UserGroupKey;
    range: PositionRange;
    limit: number;
    scanLimit: number;
  }): number | null;
  /**
   * Overwrites the remains of deleted rows in files, if that needs a command; false if a reader prevents it.
   */
  scrub(command: object): boolean;
  /** Stores groups of another database unchanged; skips those whose key exists. */
  copyUserGroups(command: { userGroups: readonly UserGroup[] }): void;
  addTokenKeyId(command: { keyId: string; now: number }): void;
  /** Removes the ids of keys that no stored token uses. */
  removeTokenKeyIds(command: { keep: string }): void;
  /** Updates statistics on which plans depend; needed after many rows were added without leasing ids. */
  gatherStatistics(command: object): void;
  /** Fails if the database does not accept writes; `disk_full` if it accepts only small ones. */
  pingWrite(command: object): null | 'disk_full';
}

export type Query<Kind extends keyof Queries = keyof Queries> = {
  [K in Kind]: { kind: K } & Parameters<Queries[K]>[0];
}[Kind];
export type QueryResult<Kind extends keyof Queries = keyof Queries> = ReturnType<Queries[Kind]>;
export type Command<Kind extends keyof Commands = keyof Commands> = {
  [K in Kind]: { kind: K } & Parameters<Commands[K]>[0];
}[Kind];
export type CommandResult<Kind extends keyof Commands = keyof Commands> = ReturnType<Commands[Kind]>;
export type QueryKind = keyof Queries;
export type CommandKind = keyof Commands;

/** Change that records its event in the same transaction; undefined: no event is kept. */
export interface Recorded {
  event?: NewEvent | undefined;
}

export interface TenantWithEvents extends Tenant {
  oldestEventAt: number;
}

export interface TenantWithUsage extends Tenant {
  firstDay: Day;
}

/** Figures of an environment as JSON. */
export interface NewFigures {
  countedAt: number;
  figures: JsonText;
}

export interface StoredFigures {
  /** A process may be counting until then. */
  countingUntil: number;
  /** null if nothing was counted yet. */
  countedAt: number | null;
  figures: JsonText | null;
}

/** The disk of a database that is a file. */
export interface FileStorage {
  databaseBytes: number;
  /** The write-ahead log. */
  logBytes: number;
  diskFreeBytes: number;
  /** null if never. */
  backedUpAt: number | null;
}

export interface Config {
  version: number;
  /**
   * Documents of one snapshot of this version or a newer one, in the order of their keys. Can be iterated
   * only once. Each page has as many as one turn of the event loop should read.
   */
  pages: Iterable<readonly Document[]>;
}

/** Documents in a page of a configuration: reading and indexing them takes about a millisecond. */
export const CONFIG_PAGE = 500;

/** Search for at most `limit` events, up to the one at which the changes reach `maxBytes` in total. */
export interface EventSearch extends Omit<EventList, 'filter'> {
  /** Only for a target. */
  range?: PositionRange;
  after: EventPosition | null;
  limit: number;
  /** Reads at most this many events of any type. */
  scanLimit: number;
  maxBytes: number;
  /** Whether the feed passes running transactions: safe only if none of them records events. */
  readsToEnd?: boolean;
}

export interface EventPage {
  events: StoredEvent[];
  /** The last event that was read, of any type; null if there is none. */
  last: EventPosition | null;
  /** Whether no more events follow now. */
  isEnd: boolean;
  /** Whether a feed was to continue after a position that the database has not reached: it has lost events. */
  isAhead?: boolean;
}

/** Page of a feed that was to continue after a position that the database has not reached. */
export const AHEAD: EventPage = { events: [], last: null, isEnd: true, isAhead: true };

export interface PendingEndpoint {
  endpoint: WebhookEndpointKey;
  dueAt: number;
}

/** More events than a clock that is ahead records before it is corrected. */
export const AHEAD_EVENTS = 10_000;

/** Number of an endpoint's newest deliveries that determine its health. */
export const NEWEST_DELIVERIES = 100;

/** One of several batches that delete rows in their order. */
export interface DeletionBatch {
  limit: number;
  /** `next` of the batch before. */
  after?: Continuation | undefined;
}

/** End of a batch of rows, in columns that only the adapter knows. */
export type Continuation = readonly (string | number | null)[];

export interface DeletedRows {
  /** Number of rows, without those that another process has deleted meanwhile. */
  deleted: number;
  /** Whether more rows may be old. */
  hasMore: boolean;
  /** Absent if the next batch reads no deleted rows anyway. */
  next?: Continuation;
}

interface RetriedDeliveries {
  retried: number;
  /** Whether more deliveries may have failed. */
  hasMore: boolean;
}

export interface EndpointHealth {
  pendingDeliveries: number;
  /** When the last delivery among the newest ones succeeded; null if none of them did. */
  lastDeliveredAt: number | null;
  /** Since when no delivery has succeeded; null if the last one did. */
  failingSince: number | null;
}

export interface FailingEndpoint extends WebhookEndpointKey {
  failingSince: number;
}

export interface ClaimedDeliveries {
  deliveries: readonly Delivery[];
  /** Since when no delivery to the endpoint has succeeded; null if the last one did. */
  failingSince: number | null;
  /** The endpoint, not older than the events of the deliveries; null if it is deleted. */
  document: Document | null;
}

/** `before` is the stored document; null for a new one. `after` is null for a deleted one. */
export interface DocumentChange extends Recorded {
  before: Document | null;
  after: Document | null;
}

/** `secret`: undefined keeps the stored one. */
interface DocumentReplacement extends Recorded {
  key: DocumentKey;
  body: JsonText;
  secret?: SealedSecret | null | undefined;
  precondition?: Precondition | undefined;
  /** Version that the configuration of the environment must have; any if it is not given. */
  configVersion?: number | undefined;
  /** Another document, which must meet a precondition of its own. */
  related?: { key: DocumentKey; precondition: Precondition } | undefined;
  limit: DocumentTotal;
  now: number;
}

interface ApiTokenRotation extends Recorded {
  apiTokenId: number;
  currentDigest: TokenDigest;
  digest: TokenDigest;
  /** null: the replaced text is no longer valid. */
  previousExpiresAt: number | null;
}

export const idSequences = ['team_id', 'workspace_id', 'api_token_id', 'data_source_id'] as const;
export type IdSequence = (typeof idSequences)[number];

export interface LeasedIds {
  first: number;
  /** Name of the lease. The database knows it unless it was restored to an earlier state. */
  lease: string;
}

export interface Workspace {
  workspaceId: number;
  name: string;
  createdAt: number;
}

export type ApiTokenRow = ApiToken & { workspaceName: string };

/** Only an import creates suspended groups. */
export interface NewUserGroup
  extends Recorded,
    SettableFields,
    Pick<UserGroup, 'teamId' | 'suspendedAt' | 'tokenDigest' | 'sealedToken'> {
  key: UserGroupKey;
  /** The lease of `teamId`. */
  lease: string;
  now: number;
}

export interface ImportedUserGroup extends NewUserGroup {
  /** Marked digest of the imported token: of two imports of one token, the first wins. null: a new token. */
  claim: TokenDigest | null;
  /** Address that the text of an issued token encodes; null for a text of another form. */
  issued: TokenAddress | null;
}

/** Absent fields are unchanged; the version increases only if something changes. */
export interface UserGroupUpdate extends Recorded, Partial<SettableFields> {
  key: UserGroupKey;
  /** Suspends the group unless it is suspended already; null resumes it. */
  suspendedAt?: number | null;
  precondition?: Precondition | undefined;
  now: number;
}

export interface UserGroupRename extends Recorded {
  key: UserGroupKey;
  to: UserGroupKey;
  precondition?: Precondition | undefined;
  /** Stored token. The same token replaces it, with the digest and the ciphertext for the key `to`. */
  expected: SealedSecret;
  tokenDigest: TokenDigest;
  sealedToken: SealedSecret;
  /** Changes of documents that name the id, in the configuration that was searched for them. */
  config: Omit<Command<'changeConfig'>, 'kind'>;
  now: number;
}

/** Removes the changes from the earlier events of the group. */
export interface UserGroupDeletion extends Recorded {
  key: UserGroupKey;
  /** Position after which the events with this id lose their changes. */
  eraseAfter: number;
  /** Stored token when `eraseAfter` was determined; every rename encrypts it again. */
  expected: SealedSecret;
  precondition?: Precondition | undefined;
}

/** Search for at most `limit` groups, up to the one at which their JSON reaches `maxBytes` in total. */
export interface UserGroupSearch {
  list: UserGroupList;
  from: Position;
  limit: number;
  maxBytes: number;
}

/** Group whose token was used. `teamId` distinguishes it from a later group with the same key. */
export interface SeenUserGroup {
  key: UserGroupKey;
  teamId: number;
}

/** Searches `scanLimit` groups in the order of their names for at most `limit` candidates. */
interface UserGroupTextSearch {
  tenant: Tenant;
  from: NamePosition;
  /** Lower-case ASCII text. null: only groups with other characters are candidates. */
  text: string | null;
  scanLimit: number;
  limit: number;
}

interface UserGroupCandidates {
  /** Summaries without mapping and properties. */
  summaries: UserGroupSummary[];
  /** Number of groups that were searched. */
  scanned: number;
  /** Last group that was searched; null at the end of the list. */
  last: NamePosition | null;
}

export type NamePosition = Pick<UserGroup, 'name' | 'providedId'>;

export interface UserGroupSummary extends Filterable {
  /** Size of the mapping and the properties. */
  bytes: number;
}

export interface TokenRotation extends Recorded {
  bucket: Bucket;
  /** Id for which the token is encrypted: a rename in between fails the rotation. */
  providedId: string;
  teamId: number;
  currentDigest: TokenDigest;
  /** Digest of the token that the previous rotation replaced; the command removes it. */
  forgottenDigest: TokenDigest | null;
  tokenDigest: TokenDigest;
  sealedToken: SealedSecret;
  precondition?: Precondition | undefined;
  /** null: the replaced token is no longer valid. */
  previousTokenExpiresAt: number | null;
  now: number;
}
