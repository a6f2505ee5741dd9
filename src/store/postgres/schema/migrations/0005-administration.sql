-- Suspended groups, when a token was last used, rotated API tokens, documents, events and webhook deliveries.
-- Instants are milliseconds since 1970.

alter table user_groups add column suspended_at bigint;
alter table user_groups add column last_seen_at bigint;

-- The text that the last rotation replaced authenticates until it expires.
alter table api_tokens add column previous_digest text collate "C";
alter table api_tokens add column previous_expires_at bigint;
alter table api_tokens add column last_used_at bigint;
create index api_tokens_previous_digest on api_tokens (previous_digest) where previous_digest is not null;
create index api_tokens_workspace_id_environment_api_token_id on api_tokens (workspace_id, environment, api_token_id);

-- Every change of a document increments the version in its transaction.
create table environments (
  workspace_id bigint not null,
  environment text collate "C" not null,
  config_version bigint not null,
  primary key (workspace_id, environment)
);

create table documents (
  workspace_id bigint not null,
  environment text collate "C" not null,
  kind text collate "C" not null,
  document_id text collate "C" not null,
  version bigint not null,
  body text not null,
  secret_key_id text collate "C",
  secret_ciphertext text collate "C",
  created_at bigint not null,
  updated_at bigint not null,
  primary key (workspace_id, environment, kind, document_id)
);

-- A position starts with the transaction id plus a base: a reader that stops before the oldest running transaction misses
-- no event that commits later. Transaction ids start again in a new cluster, so a restore raises the base above every
-- position of a stored or a deleted event.
create table event_positions (
  only_row boolean not null primary key,
  base bigint not null,
  system_identifier text collate "C" not null,
  deleted_to bigint not null
);

-- The changes of a target are in the order of their positions. "changes" has the changed fields before and after; see domain/event/changes.ts.
create table events (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  target_type text collate "C" not null,
  target_id text collate "C" not null,
  event_id text collate "C" not null,
  position bigint not null,
  type text collate "C" not null,
  occurred_at bigint not null,
  actor text not null,
  request_id text,
  version bigint,
  changes text,
  primary key (bucket, workspace_id, environment, target_type, target_id, position)
);
create index events_feed on events (workspace_id, environment, position, event_id);

-- next_attempt_at is null once a delivery has succeeded or was given up. A process that attempts deliveries first moves
-- it to when another process may take over.
create table deliveries (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text collate "C" not null,
  target_type text collate "C" not null,
  target_id text collate "C" not null,
  position bigint not null,
  state text collate "C" not null,
  attempts integer not null,
  next_attempt_at bigint,
  last_attempt_at bigint,
  response_status integer,
  error text,
  created_at bigint not null,
  primary key (bucket, workspace_id, environment, endpoint_id, event_id)
);
create index deliveries_endpoint on deliveries (workspace_id, environment, endpoint_id, event_id);
create index deliveries_due on deliveries (workspace_id, environment, endpoint_id, next_attempt_at)
  where next_attempt_at is not null;

-- Since when no delivery to an endpoint has succeeded.
create table failing_webhook_endpoints (
  workspace_id bigint not null,
  environment text collate "C" not null,
  endpoint_id text collate "C" not null,
  failing_since bigint not null,
  primary key (workspace_id, environment, endpoint_id)
);

insert into id_blocks (sequence, next) values ('data_source_id', 1);
