// Commands on one connection: a batch is one transaction, and so one sync of the disk.

import { isImported, type TokenDigest } from '../../domain/token.ts';
import { type UserGroup, type UserGroupKey, versionTag } from '../../domain/user-group.ts';
import {
  API_TOKEN_COLUMNS,
  createdUserGroup,
  fromApiToken,
  fromUserGroup,
  toUserGroup,
  toWorkspace,
  USER_GROUP_COLUMNS,
  WORKSPACE_COLUMNS,
} from '../rows.ts';
import type {
  Command,
  CommandResult,
  ImportedUserGroup,
  LeasedIds,
  NewUserGroup,
  TokenRotation,
  UserGroupDeletion,
  UserGroupUpdate,
} from '../store.ts';
import type { Connection } from './connection.ts';
import { Reader } from './reader.ts';

const CREATE = `insert into user_groups (${USER_GROUP_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, null, null, ?, ?)
  on conflict (workspace_id, environment, provided_id) do nothing`;
const COPY = `insert into user_groups (${USER_GROUP_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (workspace_id, environment, provided_id) do nothing`;
const ADD_IMPORTED_TOKEN = `insert into imported_tokens (token_digest, bucket) values (?, ?)
  on conflict (token_digest) do nothing`;
const FORGET_IMPORTED_TOKEN = 'delete from imported_tokens where token_digest = ?';
const UPDATE = `update user_groups set name = ?, mapping = ?, properties = ?, version = version + 1, updated_at = ?
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?
  returning ${USER_GROUP_COLUMNS}`;
const DELETE = `delete from user_groups
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?`;
const ROTATE = `update user_groups set token_digest = ?, token_key_id = ?, token_ciphertext = ?,
    previous_token_digest = token_digest, previous_token_expires_at = ?, version = version + 1, updated_at = ?
  where bucket = ? and token_digest = ? and team_id = ?
  returning ${USER_GROUP_COLUMNS}`;
const RESEAL = `update user_groups set token_key_id = ?, token_ciphertext = ?
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?
    and token_key_id = ? and token_ciphertext = ?`;
const LEASE = 'update id_blocks set next = next + ? where sequence = ? returning next';
const CREATE_WORKSPACE = `insert into workspaces (${WORKSPACE_COLUMNS}) values (?, ?, ?) on conflict (name) do nothing`;
const FIND_WORKSPACE = `select ${WORKSPACE_COLUMNS} from workspaces where name = ?`;
const CREATE_API_TOKEN = `insert into api_tokens (${API_TOKEN_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const REVOKE_API_TOKEN = 'update api_tokens set revoked_at = coalesce(revoked_at, ?) where api_token_id = ?';
const ADD_TOKEN_KEY =
  'insert into token_keys (key_id, created_at) values (?, ?) on conflict (key_id) do nothing';
const KEEP_TOKEN_KEYS = `delete from token_keys where key_id <> ?
  and not exists (select 1 from user_groups where user_groups.token_key_id = token_keys.key_id)`;

export class Writer {
  readonly #connection: Connection;
  readonly #reader: Reader;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#reader = new Reader(connection);
  }

  run(commands: readonly Command[]): CommandResult[] {
    // Immediate: a transaction that reads first and writes later would fail at once where another one writes.
    return this.#connection.transaction('immediate', () => commands.map((command) => this.#execute(command)));
  }

  #execute(command: Command): CommandResult {
    switch (command.kind) {
      case 'createUserGroup':
        return this.#createUserGroup(command);
      case 'importUserGroup':
        return this.#importUserGroup(command);
      case 'updateUserGroup':
        return this.#updateUserGroup(command);
      case 'deleteUserGroup':
        return this.#deleteUserGroup(command);
      case 'rotateToken':
        return this.#rotateToken(command);
      case 'resealToken':
        return this.#resealToken(command);
      case 'leaseIds':
        return this.#leaseIds(command);
      case 'ensureWorkspace':
        return this.#ensureWorkspace(command);
      case 'createApiToken':
        this.#run(CREATE_API_TOKEN, fromApiToken(command));
        return null;
      case 'revokeApiToken':
        return this.#run(REVOKE_API_TOKEN, [command.now, command.apiTokenId]) === 1;
      case 'copyUserGroups':
        for (const userGroup of command.userGroups) this.#copyUserGroup(userGroup);
        return null;
      case 'addTokenKeyId':
        this.#run(ADD_TOKEN_KEY, [command.keyId, command.now]);
        return null;
      case 'removeTokenKeyIds':
        this.#run(KEEP_TOKEN_KEYS, [command.keep]);
        return null;
      case 'gatherStatistics':
        // Without statistics, SQLite looks a row up by the index that has all columns of the key.
        return null;
      case 'pingWrite':
        this.#proveDisk();
        return null;
      default:
        return command satisfies never;
    }
  }

  /**
   * A transaction that changes nothing does not touch the disk. A connection that has changed nothing yet takes an id
   * that nobody will have; one that has is of use until its first trouble, which it does not outlive.
   */
  #proveDisk(): void {
    const [changes] = this.#get('select total_changes()', []) as [number];
    if (changes === 0) this.#execute({ kind: 'leaseIds', sequence: 'team_id', count: 1 });
  }

  /** One process serves a file, and refuses to write where another one has been put in its place. */
  #leaseIds({ count, sequence }: Command<'leaseIds'>): LeasedIds {
    const [next] = this.#get(LEASE, [count, sequence]) as [number];
    return { first: next - count, lease: '' };
  }

  #createUserGroup(command: NewUserGroup): { created: boolean; userGroup: UserGroup } {
    const { key, sealedToken, now } = command;
    const created = this.#run(CREATE, [
      ...partsOf(key),
      command.teamId,
      command.name,
      command.mapping,
      command.properties,
      command.tokenDigest,
      sealedToken.keyId,
      sealedToken.ciphertext,
      now,
      now,
    ]);
    return created === 1
      ? { created: true, userGroup: createdUserGroup(command) }
      : { created: false, userGroup: this.#reader.findUserGroup(key)! };
  }

  #importUserGroup(command: ImportedUserGroup): CommandResult<'importUserGroup'> {
    const { key, tokenDigest } = command;
    const stored = this.#reader.findUserGroup(key);
    if (stored !== null) return { created: false, userGroup: stored };
    if (this.#isTaken(command)) return 'token_taken';
    this.#addImportedToken(key, tokenDigest);
    return this.#createUserGroup(command);
  }

  #isTaken({ claim, issued }: ImportedUserGroup): boolean {
    if (this.#reader.findImportedToken(claim) !== null) return true;
    return issued !== null && this.#reader.findUserGroupByToken(issued) !== null;
  }

  #copyUserGroup(userGroup: UserGroup): void {
    this.#run(COPY, fromUserGroup(userGroup));
    this.#addImportedToken(userGroup, userGroup.tokenDigest);
    this.#addImportedToken(userGroup, userGroup.previousTokenDigest);
  }

  #addImportedToken({ bucket }: UserGroupKey, digest: TokenDigest | null): void {
    if (digest !== null && isImported(digest)) this.#run(ADD_IMPORTED_TOKEN, [digest, bucket]);
  }

  #forgetImportedToken(digest: TokenDigest | null): void {
    if (digest !== null && isImported(digest)) this.#run(FORGET_IMPORTED_TOKEN, [digest]);
  }

  #updateUserGroup(command: UserGroupUpdate): UserGroup | 'not_found' | 'version_mismatch' {
    const { key, ifVersion, now } = command;
    const stored = this.#reader.findUserGroup(key);
    if (stored === null) return 'not_found';
    if (!isVersion(stored, ifVersion)) return 'version_mismatch';
    const { name, mapping, properties } = { ...stored, ...fieldsOf(command) };
    if (name === stored.name && mapping === stored.mapping && properties === stored.properties) return stored;
    return toUserGroup(this.#get(UPDATE, [name, mapping, properties, now, ...partsOf(key)]))!;
  }

  #deleteUserGroup({ key, ifVersion }: UserGroupDeletion): CommandResult<'deleteUserGroup'> {
    const stored = this.#reader.findUserGroup(key);
    if (stored === null) return 'not_found';
    if (!isVersion(stored, ifVersion)) return 'version_mismatch';
    this.#run(DELETE, partsOf(key));
    this.#forgetImportedToken(stored.tokenDigest);
    this.#forgetImportedToken(stored.previousTokenDigest);
    return 'deleted';
  }

  #rotateToken(command: TokenRotation): UserGroup | null {
    const { sealedToken } = command;
    const row = this.#get(ROTATE, [
      command.tokenDigest,
      sealedToken.keyId,
      sealedToken.ciphertext,
      command.previousTokenExpiresAt,
      command.now,
      command.bucket,
      command.currentDigest,
      command.teamId,
    ]);
    if (row !== undefined) this.#forgetImportedToken(command.forgottenDigest);
    return toUserGroup(row);
  }

  #resealToken({ key, expected, sealedToken }: Command<'resealToken'>): boolean {
    const values = [
      sealedToken.keyId,
      sealedToken.ciphertext,
      ...partsOf(key),
      expected.keyId,
      expected.ciphertext,
    ];
    return this.#run(RESEAL, values) === 1;
  }

  #ensureWorkspace(command: Command<'ensureWorkspace'>): CommandResult<'ensureWorkspace'> {
    const { workspaceId, name, now } = command;
    const created = this.#run(CREATE_WORKSPACE, [workspaceId, name, now]) === 1;
    return { created, workspace: toWorkspace(this.#get(FIND_WORKSPACE, [name])) };
  }

  #run(sql: string, values: readonly (string | number | null)[]): number {
    return Number(this.#connection.statement(sql).run(...values).changes);
  }

  #get(sql: string, values: readonly (string | number | null)[]): unknown[] | undefined {
    return this.#connection.statement(sql).get(...values) as unknown[] | undefined;
  }
}

function partsOf(key: UserGroupKey): [number, number, string, string] {
  return [key.bucket, key.workspaceId, key.environment, key.providedId];
}

function isVersion(stored: UserGroup, ifVersion: readonly string[] | undefined): boolean {
  return ifVersion === undefined || ifVersion.includes(versionTag(stored));
}

function fieldsOf({ name, mapping, properties }: UserGroupUpdate): Partial<UserGroup> {
  return {
    ...(name !== undefined && { name }),
    ...(mapping !== undefined && { mapping }),
    ...(properties !== undefined && { properties }),
  };
}
