// The port of the store: what operations ask of a database, in batches. An adapter answers a list of queries
// or commands with the list of their results, in the same order. It decides nothing and throws no `Problem`.

import type { ApiToken } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import type { Position, UserGroupList } from '../domain/cursor.ts';
import type { JsonText } from '../domain/strict-json.ts';
import type { TokenAddress, TokenDigest } from '../domain/token.ts';
import type { SealedToken, UserGroup, UserGroupKey } from '../domain/user-group.ts';

export interface Store {
  /** Each query sees everything that was committed before the call. Throws `StoreUnavailable`. */
  read(queries: readonly Query[]): Promise<QueryResult[]> | QueryResult[];
  /**
   * Each command happens whole or not at all, and is durable when the promise resolves; a batch that rejects
   * with anything but `StoreUnavailable` has changed nothing. Throws `StoreUnavailable`.
   */
  write(commands: readonly Command[]): Promise<CommandResult[]>;
  close(): Promise<void>;
}

/** The database cannot be asked now. Trying again later may work. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';

  /** Whether it may pass although nobody sets anything right, such as a database that starts later than the service. */
  get passesByItself(): boolean {
    return false;
  }
}

/** Who wants to know of a database that comes and goes. Is told more often than it changes. */
export interface StoreObserver {
  /** No connection can be had. */
  unavailable(reason: string): void;
  /** The database has answered. */
  available(): void;
}

interface Queries {
  /** null where there is none. */
  findApiToken: { query: { digest: TokenDigest }; result: ApiToken | null };
  findUserGroup: { query: { key: UserGroupKey }; result: UserGroup | null };
  /** The group whose current token, or whose last replaced one, has this digest; null where there is none. */
  findUserGroupByToken: { query: { address: TokenAddress }; result: UserGroup | null };
  /** The bucket of the group that has the marked digest; null where none has it. */
  findImportedToken: { query: { digest: TokenDigest }; result: Bucket | null };
  listApiTokens: { query: { after: number; limit: number }; result: ApiTokenRow[] };
  listWorkspaces: { query: object; result: Workspace[] };
  /** The ids of the keys that stored tokens may be sealed under. */
  listTokenKeyIds: { query: object; result: string[] };
  /** Groups in the order of their keys after `after`, from the first where it is null. */
  listUserGroups: { query: { after: UserGroupKey | null; limit: number }; result: UserGroup[] };
  /** Groups of one list from a position on, in the order of that; `isEnd` where no more come in this order. */
  searchUserGroups: { query: UserGroupSearch; result: { userGroups: UserGroup[]; isEnd: boolean } };
  /** All of them, or those of one workspace and environment. */
  countUserGroups: {
    query: { of: Pick<UserGroupKey, 'workspaceId' | 'environment'> | null };
    result: number;
  };
  /** Fails where the database does not answer. */
  ping: { query: object; result: null };
}

interface Commands {
  /**
   * Creates the group where its key is free; else returns the one that is there. `unsettled` where there is none, since
   * it was deleted at that moment or the database has lost the lease of its id: then no id of the lease must be used
   * again.
   */
  createUserGroup: {
    command: NewUserGroup;
    result: { created: boolean; userGroup: UserGroup } | 'unsettled';
  };
  /** The same with a token that the group brings; `token_taken` where another group has it, or had it last. */
  importUserGroup: {
    command: ImportedUserGroup;
    result: { created: boolean; userGroup: UserGroup } | 'token_taken' | 'unsettled';
  };
  updateUserGroup: { command: UserGroupUpdate; result: UserGroup | 'not_found' | 'version_mismatch' };
  deleteUserGroup: { command: UserGroupDeletion; result: 'deleted' | 'not_found' | 'version_mismatch' };
  /** Replaces the token where it is still the current one; null where it is not. */
  rotateToken: { command: TokenRotation; result: UserGroup | null };
  /** Seals the same token anew, where it is still sealed as `expected`; says whether it was. */
  resealToken: {
    command: { key: UserGroupKey; expected: SealedToken; sealedToken: SealedToken };
    result: boolean;
  };
  /** Takes `count` ids that nobody else gets. */
  leaseIds: { command: { sequence: IdSequence; count: number }; result: LeasedIds };
  /** Makes the workspace where there is none of the name; returns it. */
  ensureWorkspace: {
    command: { workspaceId: number; name: string; now: number };
    result: { created: boolean; workspace: Workspace };
  };
  createApiToken: { command: ApiToken; result: null };
  /** Says whether there is such a token; revoking a revoked one keeps the first time. */
  revokeApiToken: { command: { apiTokenId: number; now: number }; result: boolean };
  /** Stores groups of another database as they are there; one whose key is taken stays as it is. */
  copyUserGroups: { command: { userGroups: readonly UserGroup[] }; result: null };
  addTokenKeyId: { command: { keyId: string; now: number }; result: null };
  /** Forgets the ids of keys that no stored token is sealed under any more. */
  removeTokenKeyIds: { command: { keep: string }; result: null };
  /** For a database whose plans depend on how many rows there are, when many have come that no lease of ids foretold. */
  gatherStatistics: { command: object; result: null };
  /** Fails where the database takes no writes. */
  pingWrite: { command: object; result: null };
}

export type Query<Kind extends keyof Queries = keyof Queries> = {
  [K in Kind]: { kind: K } & Queries[K]['query'];
}[Kind];
export type QueryResult<Kind extends keyof Queries = keyof Queries> = Queries[Kind]['result'];
export type Command<Kind extends keyof Commands = keyof Commands> = {
  [K in Kind]: { kind: K } & Commands[K]['command'];
}[Kind];
export type CommandResult<Kind extends keyof Commands = keyof Commands> = Commands[Kind]['result'];
export type QueryKind = keyof Queries;
export type CommandKind = keyof Commands;

export type IdSequence = 'team_id' | 'workspace_id' | 'api_token_id';

export interface LeasedIds {
  first: number;
  /** What the database knows the lease by, as long as it has it. */
  lease: string;
}

export interface Workspace {
  workspaceId: number;
  name: string;
  createdAt: number;
}

export type ApiTokenRow = ApiToken & { workspaceName: string };

export interface NewUserGroup {
  key: UserGroupKey;
  teamId: number;
  /** The one that `teamId` is of. */
  lease: string;
  name: string;
  mapping: JsonText | null;
  properties: JsonText | null;
  tokenDigest: TokenDigest;
  sealedToken: SealedToken;
  now: number;
}

export interface ImportedUserGroup extends NewUserGroup {
  /** The marked digest of its token: of two imports of one token the first to claim it has it. */
  claim: TokenDigest;
  /** Where a token of this form is that was issued here; null for one of another form. */
  issued: TokenAddress | null;
}

/** A field that is absent stays; the version grows only where something changes. */
export interface UserGroupUpdate {
  key: UserGroupKey;
  name?: string;
  mapping?: JsonText | null;
  properties?: JsonText | null;
  /** The version tags of which the stored one must be one; absent where any will do. */
  ifVersion?: readonly string[];
  now: number;
}

export interface UserGroupDeletion {
  key: UserGroupKey;
  /** As in an update. */
  ifVersion?: readonly string[];
}

/** Gives at most `limit` groups, and none after one with which the mappings and properties come to `maxBytes`. */
export interface UserGroupSearch {
  list: UserGroupList;
  from: Position;
  limit: number;
  maxBytes: number;
}

export interface TokenRotation {
  bucket: Bucket;
  teamId: number;
  currentDigest: TokenDigest;
  /** Of the token that the rotation before has replaced: nothing of it is kept. */
  forgottenDigest: TokenDigest | null;
  tokenDigest: TokenDigest;
  sealedToken: SealedToken;
  /** null: the replaced token is dead at once. */
  previousTokenExpiresAt: number | null;
  now: number;
}
