// Executes queries, each batch on one snapshot.

import type { ApiToken } from '../../domain/api-token.ts';
import type { Bucket } from '../../domain/bucket.ts';
import { listedBytesOf, prefixUpperBound } from '../../domain/cursor.ts';
import type { TokenAddress, TokenDigest } from '../../domain/token.ts';
import { sizeOf, type UserGroup, type UserGroupKey } from '../../domain/user-group.ts';
import type { ApiTokenRow, Query, QueryResult, UserGroupSearch, Workspace } from '../port.ts';
import {
  API_TOKEN_COLUMNS,
  COLUMNS_BESIDE_KEY,
  toApiToken,
  toUserGroup,
  toWorkspace,
  USER_GROUP_COLUMNS,
  userGroupOf,
  WORKSPACE_COLUMNS,
} from '../row-mapping.ts';
import type { Connection } from './connection.ts';

const BY_KEY = `select ${COLUMNS_BESIDE_KEY} from user_groups
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?`;
const BY_TOKEN = `select ${USER_GROUP_COLUMNS} from user_groups where bucket = ? and token_digest = ?`;
const BY_PREVIOUS_TOKEN = `select ${USER_GROUP_COLUMNS} from user_groups where bucket = ? and previous_token_digest = ?`;
const IMPORTED_TOKEN = 'select bucket from imported_tokens where token_digest = ?';
const AFTER_KEY = `select ${USER_GROUP_COLUMNS} from user_groups
  where (workspace_id, environment, provided_id) > (?, ?, ?)
  order by workspace_id, environment, provided_id limit ?`;
const FROM_ID = `select ${USER_GROUP_COLUMNS} from user_groups
  where workspace_id = ? and environment = ? and provided_id >= ? and provided_id <= ?
  order by provided_id limit ?`;
const FROM_NAME = `select ${USER_GROUP_COLUMNS} from user_groups
  where workspace_id = ? and environment = ? and (name, provided_id) >= (?, ?) and name <= ?
  order by name, provided_id limit ?`;
const COUNT = 'select count(*) from user_groups';
const COUNT_OF = 'select count(*) from user_groups where workspace_id = ? and environment = ?';
const API_TOKEN = `select ${API_TOKEN_COLUMNS} from api_tokens where digest = ?`;
const API_TOKENS = `select ${API_TOKEN_COLUMNS},
  (select name from workspaces where workspaces.workspace_id = api_tokens.workspace_id)
  from api_tokens where api_token_id > ? order by api_token_id limit ?`;
const WORKSPACE = `select ${WORKSPACE_COLUMNS} from workspaces where name = ?`;
const WORKSPACES = `select ${WORKSPACE_COLUMNS} from workspaces where name > ? order by name limit ?`;

/** JSON in the rows of one batch. SQLite and Node decode this much of a script that is not Latin in 6 ms. */
const MAX_CHARACTERS = 262_144;

function charactersOf({ kind }: Query, result: QueryResult): number {
  const isGroup = kind === 'findUserGroup' || kind === 'findUserGroupByToken';
  return isGroup && result !== null ? sizeOf(result as UserGroup) : 0;
}

export class Reader {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Ends early after `MAX_CHARACTERS`. */
  run(queries: readonly Query[]): QueryResult[] {
    return this.#connection.transaction('deferred', () => {
      // A batch has few different API tokens: each one is looked up once.
      const apiTokens = new Map<TokenDigest, ApiToken | null>();
      const results: QueryResult[] = [];
      let characters = 0;
      for (const query of queries) {
        if (characters >= MAX_CHARACTERS) break;
        const result = this.#answer(query, apiTokens);
        results.push(result);
        characters += charactersOf(query, result);
      }
      return results;
    });
  }

  findUserGroup(key: UserGroupKey): UserGroup | null {
    const { bucket, workspaceId, environment, providedId } = key;
    const row = this.#connection.statement(BY_KEY).get(bucket, workspaceId, environment, providedId);
    return row === undefined ? null : userGroupOf(key, row);
  }

  findUserGroupByToken({ bucket, digest }: TokenAddress): UserGroup | null {
    const row =
      this.#connection.statement(BY_TOKEN).get(bucket, digest) ??
      this.#connection.statement(BY_PREVIOUS_TOKEN).get(bucket, digest);
    return toUserGroup(row);
  }

  findImportedToken(digest: TokenDigest): Bucket | null {
    const row = this.#connection.statement(IMPORTED_TOKEN).get(digest) as unknown as [Bucket] | undefined;
    return row?.[0] ?? null;
  }

  findWorkspace(name: string): Workspace | null {
    const row = this.#connection.statement(WORKSPACE).get(name);
    return row === undefined ? null : toWorkspace(row);
  }

  #answer(query: Query, apiTokens: Map<TokenDigest, ApiToken | null>): QueryResult {
    switch (query.kind) {
      case 'findApiToken':
        return this.#findApiToken(query.digest, apiTokens);
      case 'findUserGroup':
        return this.findUserGroup(query.key);
      case 'findUserGroupByToken':
        return this.findUserGroupByToken(query.address);
      case 'findImportedToken':
        return this.findImportedToken(query.digest);
      case 'listApiTokens':
        return this.#connection
          .statement(API_TOKENS)
          .all(query.after, query.limit)
          .map((row): ApiTokenRow => {
            const columns = row as unknown as unknown[];
            return { ...toApiToken(columns)!, workspaceName: columns.at(-1) as string };
          });
      case 'findWorkspace':
        return this.findWorkspace(query.name);
      case 'listWorkspaces':
        // No name is empty.
        return this.#connection
          .statement(WORKSPACES)
          .all(query.after ?? '', query.limit)
          .map(toWorkspace);
      case 'listTokenKeyIds':
        return this.#rows('select key_id from token_keys order by key_id').map(([id]) => id as string);
      case 'scanUserGroups': {
        const { workspaceId, environment, providedId } = query.after ?? FIRST_KEY;
        const rows = this.#connection
          .statement(AFTER_KEY)
          .all(workspaceId, environment, providedId, query.limit);
        return rows.map((row) => toUserGroup(row)!);
      }
      case 'listUserGroups':
        return this.#listUserGroups(query);
      case 'countUserGroups':
        return this.#countUserGroups(query.of);
      case 'ping':
        this.#rows('select 1 from id_blocks limit 1');
        return null;
      default:
        return query satisfies never;
    }
  }

  #findApiToken(digest: TokenDigest, known: Map<TokenDigest, ApiToken | null>): ApiToken | null {
    let token = known.get(digest);
    if (token === undefined) {
      token = toApiToken(this.#connection.statement(API_TOKEN).get(digest));
      known.set(digest, token);
    }
    return token;
  }

  #listUserGroups({ list, from, limit, maxBytes }: UserGroupSearch): QueryResult<'listUserGroups'> {
    const { workspaceId, environment, search } = list;
    const last = prefixUpperBound(search);
    const rows =
      from.order === 'id'
        ? this.#iterate(FROM_ID, [workspaceId, environment, from.providedId, last, limit])
        : this.#iterate(FROM_NAME, [workspaceId, environment, from.name, from.providedId, last, limit]);
    const userGroups: UserGroup[] = [];
    let bytes = 0;
    for (const row of rows) {
      const userGroup = toUserGroup(row)!;
      userGroups.push(userGroup);
      bytes += listedBytesOf(userGroup);
      if (bytes >= maxBytes) return { userGroups, isEnd: false };
    }
    return { userGroups, isEnd: userGroups.length < limit };
  }

  #countUserGroups(of: Query<'countUserGroups'>['of']): number {
    const statement = this.#connection.statement(of === null ? COUNT : COUNT_OF);
    const row = of === null ? statement.get() : statement.get(of.workspaceId, of.environment);
    return (row as unknown as [number])[0];
  }

  #iterate(sql: string, values: readonly (string | number)[]): Iterable<unknown> {
    return this.#connection.statement(sql).iterate(...values);
  }

  #rows(sql: string): unknown[][] {
    return this.#connection.statement(sql).all() as unknown as unknown[][];
  }
}

/** Sorts before every key. */
const FIRST_KEY = { workspaceId: 0, environment: '', providedId: '' };
