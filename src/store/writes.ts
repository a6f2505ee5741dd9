// Writes that are the same statement on both databases. One whose caller asks whether it changed a row returns that row.
// Writes that need their own statement on one of them, because of large batches or shards, are in the adapters.

import { DOCUMENT, FAILING_ENDPOINT, TENANT, WORKSPACE, WORKSPACE_TABLES } from './entities.ts';
import type { Command } from './port.ts';
import { exists, type Read } from './reads.ts';
import { statement } from './statement.ts';

export const CREATE_WORKSPACE = statement('create_workspace')`
  insert into workspaces (${WORKSPACE.names}) values (${WORKSPACE.parameters}) on conflict (name) do nothing`;

export const RENAME_WORKSPACE = statement('rename_workspace')`
  update workspaces set name = $1 where workspace_id = $2 and name = $3 returning workspace_id`;

/** The last one deletes the workspace itself. */
export const DELETE_WORKSPACE = [...WORKSPACE_TABLES, 'workspaces'].map(
  (table) => statement(`delete_${table}_of_workspace`)`delete from ${table} where workspace_id = $1`,
);

export const REVOKE_API_TOKEN = statement('revoke_api_token')`
  update api_tokens set revoked_at = $1 where api_token_id = $2 and revoked_at is null
  returning api_token_id`;

export const ROTATE_API_TOKEN = statement('rotate_api_token')`
  update api_tokens set digest = $1, previous_digest = digest, previous_expires_at = $2
  where api_token_id = $3 and digest = $4 and revoked_at is null
  returning api_token_id`;

const INSERT_DOCUMENT = `insert into documents (${DOCUMENT.names}) values (${DOCUMENT.parameters})`;

export const PUT_DOCUMENT = statement('put_document')`
  ${INSERT_DOCUMENT}
  on conflict (workspace_id, environment, kind, document_id) do update set version = excluded.version,
    body = excluded.body, secret_key_id = excluded.secret_key_id, secret_ciphertext = excluded.secret_ciphertext,
    updated_at = excluded.updated_at`;

export const COPY_DOCUMENT = statement('copy_document')`
  ${INSERT_DOCUMENT} on conflict (workspace_id, environment, kind, document_id) do nothing`;

const HAS_DOCUMENT_KEY = 'workspace_id = $1 and environment = $2 and kind = $3 and document_id = $4';

export const DELETE_DOCUMENT = statement('delete_document')`delete from documents where ${HAS_DOCUMENT_KEY}`;

export const RESEAL_DOCUMENT = statement('reseal_document')`
  update documents set secret_key_id = $5, secret_ciphertext = $6
  where ${HAS_DOCUMENT_KEY} and secret_key_id = $7 and secret_ciphertext = $8
  returning document_id`;

export const SET_FAILING = statement('set_failing_since')`
  insert into failing_webhook_endpoints (${FAILING_ENDPOINT.names}) values (${FAILING_ENDPOINT.parameters})
  on conflict (workspace_id, environment, endpoint_id) do nothing`;

export const CLEAR_FAILING = statement('clear_failing_since')`
  delete from failing_webhook_endpoints where workspace_id = $1 and environment = $2 and endpoint_id = $3`;

export const ADD_TOKEN_KEY = statement('add_token_key')`
  insert into token_keys (key_id, created_at) values ($1, $2) on conflict (key_id) do nothing`;

export const START_FIGURES = statement('start_figures')`
  insert into environment_figures (workspace_id, environment, counting_until) values ($1, $2, $3)
  on conflict (workspace_id, environment) do nothing returning workspace_id`;

export const UPDATE_FIGURES = statement('update_figures')`
  update environment_figures
  set counting_until = $3, counted_at = coalesce($4, counted_at), figures = coalesce($5, figures)
  where workspace_id = $1 and environment = $2 and counting_until = $6 returning workspace_id`;

/** Whether the figures were stored. */
export function putFigures({
  tenant,
  expected,
  countingUntil,
  counted,
}: Omit<Command<'putFigures'>, 'kind'>): Read<boolean> {
  const cells = [...TENANT.cells(tenant), countingUntil];
  if (expected === null) return exists(START_FIGURES, cells);
  const { countedAt = null, figures = null } = counted ?? {};
  return exists(UPDATE_FIGURES, [...cells, countedAt, figures, expected]);
}
