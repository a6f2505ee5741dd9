// Executes commands, each batch in one transaction: one sync for all of them.

import { isMet } from '../../domain/precondition.ts';
import { isImported, type TokenDigest } from '../../domain/token.ts';
import type { UserGroup, UserGroupKey } from '../../domain/user-group.ts';
import type {
  Command,
  CommandResult,
  ImportedUserGroup,
  LeasedIds,
  NewUserGroup,
  TokenRotation,
  UserGroupDeletion,
  UserGroupUpdate,
} from '../port.ts';
import {
  API_TOKEN_COLUMNS,
  createdUserGroup,
  fromApiToken,
  fromUserGroup,
  toUserGroup,
  USER_GROUP_COLUMNS,
  WORKSPACE_COLUMNS,
} from '../row-mapping.ts';
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
const HAS_WORKSPACE = 'select 1 from workspaces where workspace_id = ?';
const RENAME_WORKSPACE = 'update workspaces set name = ? where workspace_id = ? and name = ?';
const DELETE_WORKSPACE = 'delete from workspaces where workspace_id = ?';
const HAS_USER_GROUP = 'select 1 from user_groups where workspace_id = ? limit 1';
const HAS_API_TOKEN = `select 1 from api_tokens where workspace_id = ?1
  and (revoked_at is null or revoked_at >= ?2) and (expires_at is null or expires_at >= ?2) limit 1`;
const DELETE_API_TOKENS = 'delete from api_tokens where workspace_id = ?';
const CREATE_API_TOKEN = `insert into api_tokens (${API_TOKEN_COLUMNS})
  select ?1, workspace_id, ?3, ?4, ?5, ?6, ?7, ?8, ?9 from workspaces where workspace_id = ?2`;
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
    // Immediate: a deferred transaction that reads before it writes fails if another one has written in between.
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
      case 'renameWorkspace':
        return this.#renameWorkspace(command);
      case 'deleteWorkspace':
        return this.#deleteWorkspace(command);
      case 'createApiToken':
        return this.#run(CREATE_API_TOKEN, fromApiToken(command)) === 1;
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
        // Not needed: without statistics SQLite chooses the index that has all columns of the key.
        return null;
      case 'pingWrite':
        return this.#probeWrite();
      default:
        return command satisfies never;
    }
  }

  /**
   * A transaction that changes nothing does not touch the disk, so the probe takes an id that remains unused. A
   * connection that has written is known to work, because its first failure closes it, unless the disk has filled up
   * since. One that has not written may follow a failure: its log can have space for an id and for nothing larger.
   */
  #probeWrite(): CommandResult<'pingWrite'> {
    const [changes] = this.#get('select total_changes()', []) as [number];
    const hasWritten = changes > 0;
    if (hasWritten && this.#connection.reportsFreeSpace()) return null;
    if (!hasWritten && !this.#connection.acceptsData()) return 'disk_full';
    this.#execute({ kind: 'leaseIds', sequence: 'team_id', count: 1 });
    return null;
  }

  /** Leases need no name: one process serves a file, and it refuses to write once the file is replaced. */
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
    if (!this.#has(HAS_WORKSPACE, [key.workspaceId])) return 'workspace_not_found';
    if (this.#isTaken(command)) return 'token_taken';
    this.#addImportedToken(key, tokenDigest);
    return this.#createUserGroup(command);
  }

  #isTaken({ claim, issued }: ImportedUserGroup): boolean {
    if (claim !== null && this.#reader.findImportedToken(claim) !== null) return true;
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
    const { key, precondition, now } = command;
    const stored = this.#reader.findUserGroup(key);
    if (stored === null) return 'not_found';
    if (!isMet(precondition, stored)) return 'version_mismatch';
    const { name, mapping, properties } = { ...stored, ...fieldsOf(command) };
    if (name === stored.name && mapping === stored.mapping && properties === stored.properties) return stored;
    return toUserGroup(this.#get(UPDATE, [name, mapping, properties, now, ...partsOf(key)]))!;
  }

  #deleteUserGroup({ key, precondition }: UserGroupDeletion): CommandResult<'deleteUserGroup'> {
    const stored = this.#reader.findUserGroup(key);
    if (stored === null) return 'not_found';
    if (!isMet(precondition, stored)) return 'version_mismatch';
    this.#run(DELETE, partsOf(key));
    this.#forgetImportedToken(stored.tokenDigest);
    this.#forgetImportedToken(stored.previousTokenDigest);
    return 'deleted';
  }

  #rotateToken(command: TokenRotation): UserGroup | null {
    const { sealedToken, precondition } = command;
    if (precondition !== undefined) {
      const address = { bucket: command.bucket, digest: command.currentDigest };
      if (!isMet(precondition, this.#reader.findUserGroupByToken(address))) return null;
    }
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
    return { created, workspace: this.#reader.findWorkspace(name)! };
  }

  #renameWorkspace({ workspaceId, from, to }: Command<'renameWorkspace'>): CommandResult<'renameWorkspace'> {
    const holder = this.#reader.findWorkspace(to);
    if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
    return this.#run(RENAME_WORKSPACE, [to, workspaceId, from]) === 1 ? 'renamed' : 'not_found';
  }

  #deleteWorkspace({
    workspaceId,
    endedBefore,
  }: Command<'deleteWorkspace'>): CommandResult<'deleteWorkspace'> {
    if (!this.#has(HAS_WORKSPACE, [workspaceId])) return 'not_found';
    if (this.#has(HAS_USER_GROUP, [workspaceId])) return 'has_user_groups';
    if (this.#has(HAS_API_TOKEN, [workspaceId, endedBefore])) return 'has_api_tokens';
    this.#run(DELETE_API_TOKENS, [workspaceId]);
    this.#run(DELETE_WORKSPACE, [workspaceId]);
    return 'deleted';
  }

  #has(sql: string, values: readonly (string | number | null)[]): boolean {
    return this.#get(sql, values) !== undefined;
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

function fieldsOf({ name, mapping, properties }: UserGroupUpdate): Partial<UserGroup> {
  return {
    ...(name !== undefined && { name }),
    ...(mapping !== undefined && { mapping }),
    ...(properties !== undefined && { properties }),
  };
}
