-- Suspended groups, when a token was last used, rotated API tokens, documents, events and webhook deliveries.
-- Instants are milliseconds since 1970.

alter table user_groups add column suspended_at integer;
alter table user_groups add column last_seen_at integer;

-- The text that the last rotation replaced authenticates until it expires.
alter table api_tokens add column previous_digest text;
alter table api_tokens add column previous_expires_at integer;
alter table api_tokens add column last_used_at integer;
create index api_tokens_previous_digest on api_tokens (previous_digest) where previous_digest is not null;
create index api_tokens_workspace_id_environment_api_token_id on api_tokens (workspace_id, environment, api_token_id);

-- Every change of a document increments the version in its transaction.
create table environments (
  workspace_id integer not null,
  environment text not null,
  config_version integer not null,
  primary key (workspace_id, environment)
) strict, without rowid;

create table documents (
  workspace_id integer not null,
  environment text not null,
  kind text not null,
  document_id text not null,
  version integer not null,
  body text not null,
  secret_key_id text,
  secret_ciphertext text,
  created_at integer not null,
  updated_at integer not null,
  primary key (workspace_id, environment, kind, document_id)
) strict, without rowid;

-- The position is never reused. One process writes, so it is in the order of commits.
create table events (
  position integer not null primary key autoincrement,
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  target_type text not null,
  target_id text not null,
  event_id text not null,
  type text not null,
  occurred_at integer not null,
  actor text not null,
  request_id text,
  version integer,
  changes text
) strict;
-- In the order of positions, which are the row ids.
create index events_target on events (workspace_id, environment, target_type, target_id);
create index events_feed on events (workspace_id, environment);

-- next_attempt_at is null once a delivery has succeeded or was given up. A process that attempts deliveries first moves
-- it to when another process may take over.
create table deliveries (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  endpoint_id text not null,
  event_id text not null,
  event_type text not null,
  target_type text not null,
  target_id text not null,
  position integer not null,
  state text not null,
  attempts integer not null,
  next_attempt_at integer,
  last_attempt_at integer,
  response_status integer,
  error text,
  created_at integer not null,
  primary key (workspace_id, environment, endpoint_id, event_id)
) strict, without rowid;
create index deliveries_due on deliveries (workspace_id, environment, endpoint_id, next_attempt_at)
  where next_attempt_at is not null;

-- Since when no delivery to an endpoint has succeeded.
create table failing_webhook_endpoints (
  workspace_id integer not null,
  environment text not null,
  endpoint_id text not null,
  failing_since integer not null,
  primary key (workspace_id, environment, endpoint_id)
) strict, without rowid;

insert into id_blocks (sequence, next) values ('data_source_id', 1);
