-- {"tokenKeys":"10ea07d6:5LhPKV9TjAD8PQYONLMAmKzdlXnmKWGyB5jtoDg9ju0","apiToken":"uga_ZS1IDyMN4gskZ8CxMlCFMkjJYiAxGpIMCW2uNdWinSk1dTERW","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YiWWWzZSHcQzV2UbnhnVTSYdKUTunI7x31U0Vf5nfceT1RCA39"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iy1v7G3ZyEKp41c3zLeIEEsGix5rJoZM4H2ghY0zt8w3J3pPLUK"},{"provided_id":"updated","name":"Updated","token":"ugt_26PJeO6lWBhSqGc8nP1meDiMh7sldUvbmfLm57PL9kmapt28QVuK"}]}

create table api_tokens (
  api_token_id bigint not null,
  workspace_id bigint not null,
  environment text not null,
  permission text not null,
  name text,
  digest text collate "C" not null,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  previous_digest text collate "C",
  previous_expires_at bigint,
  last_used_at bigint,
  constraint api_tokens_digest_key UNIQUE (digest),
  constraint api_tokens_pkey PRIMARY KEY (api_token_id));

create table deliveries (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  endpoint_id text collate "C" not null,
  event_id text collate "C" not null,
  event_type text collate "C" not null,
  target_type text collate "C" not null,
  target_id text collate "C" not null,
  "position" bigint not null,
  state text collate "C" not null,
  attempts integer not null,
  next_attempt_at bigint,
  last_attempt_at bigint,
  response_status integer,
  error text,
  created_at bigint not null,
  constraint deliveries_pkey PRIMARY KEY (bucket, workspace_id, environment, endpoint_id, event_id));

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
  constraint documents_pkey PRIMARY KEY (workspace_id, environment, kind, document_id));

create table environments (
  workspace_id bigint not null,
  environment text collate "C" not null,
  config_version bigint not null,
  constraint environments_pkey PRIMARY KEY (workspace_id, environment));

create table event_positions (
  only_row boolean not null,
  base bigint not null,
  system_identifier text collate "C" not null,
  deleted_to bigint not null,
  constraint event_positions_pkey PRIMARY KEY (only_row));

create table events (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  target_type text collate "C" not null,
  target_id text collate "C" not null,
  event_id text collate "C" not null,
  "position" bigint not null,
  type text collate "C" not null,
  occurred_at bigint not null,
  actor text not null,
  request_id text,
  version bigint,
  changes text,
  constraint events_pkey PRIMARY KEY (bucket, workspace_id, environment, target_type, target_id, "position"));

create table failing_webhook_endpoints (
  workspace_id bigint not null,
  environment text collate "C" not null,
  endpoint_id text collate "C" not null,
  failing_since bigint not null,
  constraint failing_webhook_endpoints_pkey PRIMARY KEY (workspace_id, environment, endpoint_id));

create table id_blocks (
  sequence text collate "C" not null,
  next bigint not null,
  constraint id_blocks_pkey PRIMARY KEY (sequence));

create table id_leases (
  lease text collate "C" not null,
  constraint id_leases_pkey PRIMARY KEY (lease));

create table imported_tokens (
  token_digest text collate "C" not null,
  bucket integer not null,
  constraint imported_tokens_pkey PRIMARY KEY (token_digest));

create table schema_migrations (
  number integer not null,
  name text not null,
  applied_at bigint not null,
  constraint schema_migrations_pkey PRIMARY KEY (number));

create table token_keys (
  key_id text collate "C" not null,
  created_at bigint not null,
  constraint token_keys_pkey PRIMARY KEY (key_id));

create table usage_counts (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  provided_id text collate "C" not null,
  day integer not null,
  kind text collate "C" not null,
  integration text collate "C" not null,
  count bigint not null,
  constraint usage_counts_pkey PRIMARY KEY (bucket, workspace_id, environment, provided_id, day, kind, integration));

create table user_groups (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  provided_id text collate "C" not null,
  team_id bigint not null,
  name text collate "C" not null,
  mapping text,
  properties text,
  version bigint not null,
  token_digest text collate "C" not null,
  token_key_id text collate "C" not null,
  token_ciphertext text collate "C" not null,
  previous_token_digest text collate "C",
  previous_token_expires_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  suspended_at bigint,
  last_seen_at bigint,
  constraint user_groups_pkey PRIMARY KEY (bucket, workspace_id, environment, provided_id));

create table workspaces (
  workspace_id bigint not null,
  name text collate "C" not null,
  created_at bigint not null,
  constraint workspaces_name_key UNIQUE (name),
  constraint workspaces_pkey PRIMARY KEY (workspace_id));

CREATE INDEX api_tokens_previous_digest ON api_tokens USING btree (previous_digest) WHERE (previous_digest IS NOT NULL);

CREATE INDEX api_tokens_workspace_id_environment_api_token_id ON api_tokens USING btree (workspace_id, environment, api_token_id);

CREATE INDEX deliveries_due ON deliveries USING btree (workspace_id, environment, endpoint_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX deliveries_endpoint ON deliveries USING btree (workspace_id, environment, endpoint_id, event_id);

CREATE INDEX events_feed ON events USING btree (workspace_id, environment, "position", event_id);

CREATE INDEX usage_counts_day ON usage_counts USING btree (workspace_id, environment, day, provided_id, kind, integration);

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'RFce3zZWC3gr3LZ7fi6SxL1V90oYsI4I4UOzct2CJqU', '1795528088834', NULL, NULL, NULL, NULL, '1795525200000');

insert into event_positions values ('true', '0', '7711734387681835850', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a20dd05d09000079d7323374d18a54', '783360', 'api_token.created', '1795528088841', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a20dd0617800002d2f4a4e77c40fed', '787456', 'user_group.created', '1795528089976', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a20dd06c0b00006d52ab2d9004a4ff', '791552', 'user_group.created', '1795528092683', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'kciVfzFH-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a20dd06c2a00001dec887eb1fabb63', '792576', 'user_group.created', '1795528092714', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'kciVfzFH-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a20dd06c40000007656eb0c91ea972', '794624', 'user_group.created', '1795528092736', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'kciVfzFH-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a20dd06c8b0000606579b29e53d738', '795648', 'user_group.token_rotated', '1795528092811', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'kciVfzFH-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a20dd06ca30000be04b47829eede14', '796672', 'user_group.updated', '1795528092835', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'kciVfzFH-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('data_source_id', '1');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('b0cb9d10-fe0d-4894-80a3-1cecaff2cb68');

insert into id_leases values ('2b368f95-6c19-4ed0-a7bb-d116c30b48c8');

insert into id_leases values ('876d3b20-d339-4095-a079-899e3db9dad8');

insert into id_leases values ('1049f905-5e31-42be-9efd-29e4570cefa7');

insert into id_leases values ('a3e7e4b9-09bd-4213-8863-25579e98726d');

insert into id_leases values ('5477d5e3-5527-4d2f-9420-08f7b7e110ed');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795528088652');

insert into schema_migrations values ('2', '0002-lists.sql', '1795528088676');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795528088686');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795528088698');

insert into schema_migrations values ('5', '0005-administration.sql', '1795528088708');

insert into schema_migrations values ('6', '0006-usage.sql', '1795528088739');

insert into token_keys values ('10ea07d6', '1795528089925');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '10ea07d6', 'Ie-93EKAu6IuVKJ3P3AvqtH0DPsL72Bl3r3CtkEmUOGvLv2XgtvSwpM0-ZM4lFQTskgbWAk', NULL, NULL, '1795528089976', '1795528089976', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'hfET_kp1lkPOb5RMPoX9l__-PQomNl70kl-E1kGyfLo', '10ea07d6', 'U45vtYbHSaE_SStumVUmaAkzS0CbjFgmoWYxHrVc0bs7ODAJGw0FE7wPAmcF5853dxWU7dRJMBTqpXAVUCIVpAQQXMWGuo7iw4e-oKk-4saGNpvj', NULL, NULL, '1795528092736', '1795528092736', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'qHrVUW3Y5yMwOILVIV5EryLpixuxbqi6fEbnTzMgsRQ', '10ea07d6', 'p7Azo-ZVUn_xpslOULJV8sHQGNlVlJrLRR39BQXlzQ0DEqWeEaAWhN4X3b0VgN5Tm3U9hWhLu3P1xk4Hed03DdxWnYrz4Wtm--A8kN8Wqt0C2I8D', 'mlApfM3JqQJ1GfxJWmqYeLt4qyxDJtHXfW1WnXO6PcQ', '1795531692811', '1795528092683', '1795528092811', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'wU4o-kBL5YGMzqxmlWRPU5-wX3TzIbL8bNYKx-fo1Xk', '10ea07d6', 'lkcw6BdP-s3WtBsDWGGZhExMeI0cRBuRFhR5sBf_Xqw1uQKR55UtHI6MvCM7_5MvsfmSo5wi9yPqxaEdZ5hpVvpn6Ubx3cHzirsEpeKXktGirEU6', NULL, NULL, '1795528092714', '1795528092835', NULL, NULL);

insert into workspaces values ('1', 'default', '1795528088809');
