// Commands that take the same statements on both databases. A statement whose caller asks whether it changed a row returns
// that row. Commands that need their own statement on one of them, because of large batches or shards, are in the adapters.

import { type ApiToken, apiTokenFields } from '../domain/api-token.ts';
import { Changes } from '../domain/event/changes.ts';
import { DELIVERY_WRITES } from './delivery.ts';
import { changeConfig, copyDocuments, deleteDocument, putDocument, resealDocument } from './document.ts';
import { API_TOKEN, TENANT, USAGE_COUNT, WORKSPACE } from './entities.ts';
import { deleteOldEvents } from './event-deletion.ts';
import { type Command, type CommandKind, type CommandResult, StoreUnavailable } from './port.ts';
import { READS } from './reads.ts';
import { all, type Call, column, exists, one, run, statement } from './statement.ts';
import { type CommandSteps, type Steps, type StepsTransaction, send, together } from './steps.ts';
import { tablesOf } from './tables.ts';

const CREATE_WORKSPACE = statement('create_workspace')`
  insert into workspaces (${WORKSPACE.names}) values (${WORKSPACE.parameters}) on conflict (name) do nothing`;

const RENAME_WORKSPACE = statement('rename_workspace')`
  update workspaces set name = $1 where workspace_id = $2 and name = $3 returning workspace_id`;

const UNENDED_API_TOKEN_OF_WORKSPACE = statement('find_api_token_of_workspace')`
  select 1 from api_tokens where workspace_id = $1
  and (revoked_at is null or revoked_at >= $2) and (expires_at is null or expires_at >= $2) limit 1`;

const CREATE_API_TOKEN = statement('create_api_token')`
  insert into api_tokens (${API_TOKEN.names}) values (${API_TOKEN.parameters})
  on conflict (digest) do nothing returning api_token_id`;

const FIND_ID_OF_API_TOKEN = statement('find_id_of_api_token')`
  select api_token_id from api_tokens where digest = $1`;

const UNREVOKED = `from api_tokens
      where workspace_id = $1 and environment = $2 and api_token_id <> $3 and revoked_at is null`;

// Reads no expired API token.
export const COUNT_ACTIVE_API_TOKENS = statement('count_active_api_tokens')`
  select (select count(*) ${UNREVOKED} and expires_at is null)
    + (select count(*) ${UNREVOKED} and expires_at > $4)`;

const REVOKE_API_TOKEN = statement('revoke_api_token')`
  update api_tokens set revoked_at = $1 where api_token_id = $2 and revoked_at is null
  returning api_token_id`;

const ROTATE_API_TOKEN = statement('rotate_api_token')`
  update api_tokens set digest = $1, previous_digest = digest, previous_expires_at = $2
  where api_token_id = $3 and digest = $4 and revoked_at is null
  returning api_token_id`;

const MARK_API_TOKEN_USED = statement('mark_api_token_used')`
  update api_tokens set last_used_at = $1 where api_token_id = $2 and (last_used_at is null or last_used_at < $1)`;

/** Place in the order of the counts of an environment. */
const IN_TENANT = USAGE_COUNT.pick('day', 'providedId', 'kind', 'integration');

// Batches continue as those of events do (event-deletion.ts).
export const FIND_OLD_USAGE = statement('find_old_usage')`
  select ${USAGE_COUNT.names} from usage_counts
  where workspace_id = $1 and environment = $2 and day < cast($3 as bigint) and (${IN_TENANT.names}) > ($4, $5, $6, $7)
  order by ${IN_TENANT.names} limit $8`;

export const DELETE_USAGE = statement('delete_old_usage')`
  delete from usage_counts
  where workspace_id = $1 and environment = $2
    and (${IN_TENANT.names}) > ($3, $4, $5, $6) and (${IN_TENANT.names}) <= ($7, $8, $9, $10)
  returning day`;

const ADD_TOKEN_KEY = statement('add_token_key')`
  insert into token_keys (key_id, created_at) values ($1, $2) on conflict (key_id) do nothing`;

const LIST_KEYS_OF_TOKENS = statement('list_token_keys_in_use')`
  select distinct token_key_id from user_groups`;

const LIST_KEYS_OF_DOCUMENTS = statement('list_document_keys_in_use')`
  select distinct secret_key_id from documents where secret_key_id is not null`;

const REMOVE_TOKEN_KEY = statement('remove_token_key')`delete from token_keys where key_id = $1`;

const START_FIGURES = statement('start_figures')`
  insert into environment_figures (workspace_id, environment, counting_until) values ($1, $2, $3)
  on conflict (workspace_id, environment) do nothing returning workspace_id`;

const UPDATE_FIGURES = statement('update_figures')`
  update environment_figures
  set counting_until = $3, counted_at = coalesce($4, counted_at), figures = coalesce($5, figures)
  where workspace_id = $1 and environment = $2 and counting_until = $6 returning workspace_id`;

/** Attempts to create a workspace that others delete or rename at the same time. */
const MAX_ATTEMPTS = 10;

/** Commands of the port. */
export const WRITES = {
  *ensureWorkspace({ workspaceId, name, now }) {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      yield [run(CREATE_WORKSPACE, WORKSPACE.cells({ workspaceId, name, createdAt: now }))];
      const workspace = yield* send(READS.findWorkspace({ name }));
      // The id is unique to this command. Without a workspace, it was deleted or renamed in between.
      if (workspace !== null) return { created: workspace.workspaceId === workspaceId, workspace };
    }
    throw new StoreUnavailable(`the workspace ${name} is repeatedly deleted or renamed`);
  },
  *renameWorkspace({ workspaceId, from, to }) {
    const holder = yield* send(READS.findWorkspace({ name: to }));
    if (holder !== null && holder.workspaceId !== workspaceId) return 'name_taken';
    return (yield* send(exists(RENAME_WORKSPACE, [to, workspaceId, from]))) ? 'renamed' : 'not_found';
  },
  /** Each check sees what was committed before the lock. */
  *deleteWorkspace({ workspaceId, endedBefore }, { lockWorkspace }) {
    if (!(yield* lockWorkspace(workspaceId))) return 'not_found';
    if (yield* send(hasRows('user_groups', workspaceId))) return 'has_user_groups';
    const unended = exists(UNENDED_API_TOKEN_OF_WORKSPACE, [workspaceId, endedBefore]);
    if (yield* send(unended)) return 'has_api_tokens';
    for (const table of tablesOf('history'))
      if (yield* send(hasRows(table, workspaceId))) return 'has_history';
    for (const table of tablesOf('history', 'configuration')) yield [deleteRows(table, workspaceId)];
    return 'deleted';
  },
  /** The lock prevents concurrent creations from exceeding the limit together. */
  *createApiToken(command, { lockWorkspace, recordings }) {
    const { apiTokenId, workspaceId, digest, limit, event } = command;
    if (!(yield* lockWorkspace(workspaceId))) return 'workspace_not_found';
    if (limit !== undefined && (yield* send(activeApiTokens(command))) >= limit) return 'limit_reached';
    const [isCreated, holder] = yield* together(
      exists(CREATE_API_TOKEN, API_TOKEN.cells(command)),
      one<number | null>(FIND_ID_OF_API_TOKEN, [digest], null),
    );
    // The id is unique to this command: a repeated attempt finds the row of an earlier one.
    if (holder !== apiTokenId) return 'digest_taken';
    // Otherwise an earlier attempt has recorded it.
    if (isCreated) recordings.push({ event, changes: new Changes(null, apiTokenFields(command)) });
    return 'created';
  },
  *revokeApiToken({ apiTokenId, now, event }, { recordings }) {
    const isRevoked = yield* send(exists(REVOKE_API_TOKEN, [now, apiTokenId]));
    if (isRevoked) recordings.push({ event });
    return isRevoked || (yield* send(READS.findApiTokenById({ apiTokenId }))) !== null;
  },
  *rotateApiToken({ apiTokenId, currentDigest, digest, previousExpiresAt, event }, { recordings }) {
    const values = [digest, previousExpiresAt, apiTokenId, currentDigest];
    const isRotated = yield* send(exists(ROTATE_API_TOKEN, values));
    if (isRotated) recordings.push({ event });
    return isRotated;
  },
  /** Updates in the order of ids, which every process uses. */
  *markApiTokensUsed({ apiTokenIds, at }) {
    const inOrder = apiTokenIds.toSorted((a, b) => a - b);
    yield inOrder.map((apiTokenId) => run(MARK_API_TOKEN_USED, [at, apiTokenId]));
  },
  putDocument,
  deleteDocument,
  changeConfig,
  resealDocument,
  copyDocuments,
  ...DELIVERY_WRITES,
  deleteOldEvents,
  *deleteOldUsage({ tenant, before, limit, after = IN_TENANT.cellsAfter(null) }) {
    const key = TENANT.cells(tenant);
    const old = yield* send(all(USAGE_COUNT, FIND_OLD_USAGE, [...key, before, ...after, limit]));
    const next = IN_TENANT.cellsAfter(old.at(-1) ?? null);
    const deleted = yield* send(column(DELETE_USAGE, [...key, ...after, ...next]));
    return { deleted: deleted.length, hasMore: old.length === limit, next };
  },
  addTokenKeyId: ({ keyId, now }) => send(run(ADD_TOKEN_KEY, [keyId, now])),
  // Statements of their own: Citus cannot read a distributed table while it modifies a reference table.
  *removeTokenKeyIds({ keep }) {
    const [known, ofTokens, ofDocuments] = yield* together(
      READS.listTokenKeyIds(),
      column<string>(LIST_KEYS_OF_TOKENS),
      column<string>(LIST_KEYS_OF_DOCUMENTS),
    );
    const kept = [keep, ...ofTokens, ...ofDocuments];
    yield known.filter((keyId) => !kept.includes(keyId)).map((keyId) => run(REMOVE_TOKEN_KEY, [keyId]));
  },
  putFigures: ({ tenant, expected, countingUntil, counted }) => {
    const cells = [...TENANT.cells(tenant), countingUntil];
    if (expected === null) return send(exists(START_FIGURES, cells));
    const { countedAt = null, figures = null } = counted ?? {};
    return send(exists(UPDATE_FIGURES, [...cells, countedAt, figures, expected]));
  },
} satisfies { [Kind in CommandKind]?: CommandSteps<Kind> };

export type WriteKind = keyof typeof WRITES;
export const writeKinds = Object.keys(WRITES) as WriteKind[];

export function stepsOf<Kind extends WriteKind>(
  { kind, ...command }: Command<Kind>,
  transaction: StepsTransaction,
): Steps<CommandResult<Kind>> {
  return (WRITES[kind] as unknown as CommandSteps<Kind>)(command, transaction);
}

/** Whether the table has rows of the workspace. */
function hasRows(table: string, workspaceId: number): Call<boolean> {
  const find = statement(
    `find_${table}_of_workspace`,
  )`select 1 from ${table} where workspace_id = $1 limit 1`;
  return exists(find, [workspaceId]);
}

function deleteRows(table: string, workspaceId: number): Call<void> {
  const remove = statement(`delete_${table}_of_workspace`)`delete from ${table} where workspace_id = $1`;
  return run(remove, [workspaceId]);
}

/** Counts the active API tokens besides this one, which an earlier attempt may have created. */
function activeApiTokens({ apiTokenId, workspaceId, environment, createdAt }: ApiToken): Call<number> {
  return one(COUNT_ACTIVE_API_TOKENS, [workspaceId, environment, apiTokenId, createdAt]);
}
