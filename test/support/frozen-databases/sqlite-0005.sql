-- {"tokenKeys":"1eb90add:gBgUW_aavCj7zmSPWffmcukt1BcL95PbeH4QFIKON_A","apiToken":"uga_2UQauKLd2oaGgJyYELpTaGxfdlUhe4cx9nBuccuaSDN118rml","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Yn0m9qAeU9USrPkO6nnRVQACClWdMKZc2Xta747iRxiQ3s8BFK"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyYjqS7wLLTUu641gLM47WnBm1vIQS4XvlqubRqSSdxPt3ZoX3V"},{"provided_id":"updated","name":"Updated","token":"ugt_26POFPFVaKlbjeuH3gBEzdxPVgZoEYYprbeUBvLj6Z7qg81eEQ9a"}]}

CREATE TABLE api_tokens (
  api_token_id integer not null primary key,
  workspace_id integer not null,
  environment text not null,
  permission text not null,
  name text,
  digest text not null unique,
  created_at integer not null,
  expires_at integer,
  revoked_at integer
, previous_digest text, previous_expires_at integer, last_used_at integer) strict;

CREATE INDEX api_tokens_previous_digest on api_tokens (previous_digest) where previous_digest is not null;

CREATE INDEX api_tokens_workspace_id_environment_api_token_id on api_tokens (workspace_id, environment, api_token_id);

CREATE TABLE deliveries (
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

CREATE INDEX deliveries_due on deliveries (workspace_id, environment, endpoint_id, next_attempt_at)
  where next_attempt_at is not null;

CREATE TABLE documents (
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

CREATE TABLE environments (
  workspace_id integer not null,
  environment text not null,
  config_version integer not null,
  primary key (workspace_id, environment)
) strict, without rowid;

CREATE TABLE events (
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

CREATE INDEX events_feed on events (workspace_id, environment);

CREATE INDEX events_target on events (workspace_id, environment, target_type, target_id);

CREATE TABLE failing_webhook_endpoints (
  workspace_id integer not null,
  environment text not null,
  endpoint_id text not null,
  failing_since integer not null,
  primary key (workspace_id, environment, endpoint_id)
) strict, without rowid;

CREATE TABLE id_blocks (
  sequence text not null primary key,
  next integer not null
) strict;

CREATE TABLE imported_tokens (
  token_digest text not null primary key,
  bucket integer not null
) strict, without rowid;

CREATE TABLE schema_migrations (
    number integer not null primary key, name text not null, applied_at integer not null) strict;

CREATE TABLE token_keys (
  key_id text not null primary key,
  created_at integer not null
) strict;

CREATE TABLE usage_counts (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  provided_id text not null,
  day integer not null,
  kind text not null,
  integration text not null,
  count integer not null,
  primary key (workspace_id, environment, provided_id, day, kind, integration)
) strict, without rowid;

CREATE INDEX usage_counts_day on usage_counts (workspace_id, environment, day, provided_id, kind, integration);

CREATE TABLE user_group_renames (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  provided_id text not null,
  position integer not null,
  event_id text not null,
  direction text not null,
  other_id text not null,
  team_id integer not null,
  primary key (workspace_id, environment, provided_id, position)
) strict, without rowid;

CREATE INDEX user_group_renames_position on user_group_renames (workspace_id, environment, position, event_id, direction);

CREATE TABLE "user_groups" (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  provided_id text not null,
  team_id integer not null,
  name text not null,
  mapping text,
  properties text,
  version integer not null,
  token_digest text not null,
  token_key_id text not null,
  token_ciphertext text not null,
  previous_token_digest text,
  previous_token_expires_at integer,
  created_at integer not null,
  updated_at integer not null, suspended_at integer, last_seen_at integer,
  primary key (workspace_id, environment, provided_id)
) strict;

CREATE INDEX user_groups_bucket_previous_token_digest on user_groups (bucket, previous_token_digest)
  where previous_token_digest is not null;

CREATE UNIQUE INDEX user_groups_bucket_token_digest on user_groups (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id
  on user_groups (workspace_id, environment, name, provided_id);

CREATE TABLE workspaces (
  workspace_id integer not null primary key,
  name text not null unique,
  created_at integer not null
) strict;

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'r_ZrRcdWtwELbVquDDInN50dAlri-lVscafLgqkY8Po', 1795580249833, NULL, NULL, NULL, NULL, 1795579200000);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a210ec46ed0000ee3b5dc7409c571b', 'api_token.created', 1795580249837, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a210ec4b210000d17ada89f6ddc4c8', 'user_group.created', 1795580250913, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a210ec56120000002886900cd82923', 'user_group.created', 1795580253714, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'xjWzAxgK-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (4, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a210ec561e00002ae0443eceddcfae', 'user_group.created', 1795580253726, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'xjWzAxgK-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (5, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a210ec562800008f6dfd8fd607c41a', 'user_group.created', 1795580253736, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'xjWzAxgK-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (6, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a210ec56300000d3804d499c5c1800', 'user_group.token_rotated', 1795580253744, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'xjWzAxgK-5', 2, NULL);

insert into events values (7, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a210ec56350000ed5f9f0d5db66a64', 'user_group.updated', 1795580253749, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'xjWzAxgK-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into id_blocks values ('data_source_id', 1);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795580249804);

insert into schema_migrations values (2, '0002-lists.sql', 1795580249806);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795580249808);

insert into schema_migrations values (4, '0004-administration.sql', 1795580249809);

insert into schema_migrations values (5, '0005-usage.sql', 1795580249813);

insert into sqlite_sequence values ('events', 7);

insert into token_keys values ('1eb90add', 1795580250582);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '1eb90add', 'qAY0BCfeWaQoCOwC5DrZmtn0woHzooTVzQ8cNJbBFMnnZK1baYJaT756HbZnqf_njt0aS44', NULL, NULL, 1795580250913, 1795580250913, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'L06Pftj-GtLt1l7PpFRZAel5Fpms0bKOWskeC-ECnL8', '1eb90add', '7yE-sllu3UfQK4E4J4cWmtjNXNEmSFZHAuxjDWbJgHdQX-0kYMVncaGUyIu3CQPErs5atfzmx7G2_sIfAAPH55aEoETjPADNQq9iwDMSmAlZ1W7V', 'V4LVnpNLzSxuYEJY1W5NhFLplkn5MUqHMI0RlmJiOyg', 1795583853744, 1795580253714, 1795580253744, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'TGlFpqdYq-7ikMW1j1zVmtDV4CUokqi68mAeM6GdhbU', '1eb90add', 'yca7_fT3QFvaKkZ6FUkuV9uj_mKOXoA-9Q9pxntAEXp4AKRVtbawhkjfbtDFfzx41ysmTpqUaDQYRl6qnULr_4_p_ECEcRbr2o24bXAhqWi00Oo5', NULL, NULL, 1795580253726, 1795580253749, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'RqWL1ObcO9HinGIWtPwaT6tqvqcmAkClyRLS4LYeEUk', '1eb90add', 'VTXQGZsQU6C44AlhEkTrzcOtZzqZb5vqCjkmKO9sVo-s5-6snaNdkQMSJ3lu9f37BGWcaXpORWl-6t2e-mX_xH-agh78aEj0KpLifWyEAhrrnd1C', NULL, NULL, 1795580253736, 1795580253736, NULL, NULL);

insert into workspaces values (1, 'default', 1795580249824);
