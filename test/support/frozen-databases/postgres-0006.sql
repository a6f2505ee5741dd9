-- {"tokenKeys":"535926ae:e-HnAcP4OFcLsSFa4Wy977KZIolbdDh6SqPXawLa57g","apiToken":"uga_JhnuPP5aOhqR3Xwn5D79gYGM6IHp4yig2DaKlXxhk5426Vk1e","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YqlGDETHI9TUbz7JSMjytVOYduMiH3iv6Bu4xnKR1owd3IUC26"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyUQukoPuefLxlZY7qKljkasj0ie67TxYSnueQKv3iZuo2wVOAK"},{"provided_id":"updated","name":"Updated","token":"ugt_26Pxhh1oVT9ybJcfTifldyv1SNiMgIx4udu63TH7NyWnYA47zkog"}]}

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
  attempt_log text,
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

create table user_group_renames (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  provided_id text collate "C" not null,
  "position" bigint not null,
  event_id text collate "C" not null,
  direction text collate "C" not null,
  other_id text collate "C" not null,
  team_id bigint not null,
  constraint user_group_renames_pkey PRIMARY KEY (bucket, workspace_id, environment, provided_id, "position"));

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

CREATE INDEX user_group_renames_position ON user_group_renames USING btree (workspace_id, environment, "position", event_id, direction);

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'GMDUjMK6vJRxERO0oob32EWxAvNJE07UppEg-2s1aIQ', '1795581598055', NULL, NULL, NULL, NULL, '1795579200000');

insert into event_positions values ('true', '0', '7711964169923944879', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a21100d9690000982d0afab6915ad3', '783360', 'api_token.created', '1795581598057', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a21100df4a000056f55e248cea0511', '787456', 'user_group.created', '1795581599562', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21100ec940000434a247d935ca277', '791552', 'user_group.created', '1795581602964', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'cnfL4Cpo-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21100ecbe0000b583387c17d30b7f', '793600', 'user_group.created', '1795581603006', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'cnfL4Cpo-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a21100ecd6000078c9f89ff1787529', '794624', 'user_group.created', '1795581603030', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'cnfL4Cpo-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21100ecdf00008640e64a58f99810', '795648', 'user_group.token_rotated', '1795581603039', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'cnfL4Cpo-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21100ece30000118f2827a3987e63', '796672', 'user_group.updated', '1795581603043', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'cnfL4Cpo-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('data_source_id', '1');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('5812e9ed-6e5a-4afe-9340-d975c2db85c1');

insert into id_leases values ('9f9af831-4982-429e-bc43-06be9a3ab6b3');

insert into id_leases values ('b50c8e68-01ea-4641-af72-d62a613a4bc1');

insert into id_leases values ('505b18f5-0e3c-4d57-a206-d35291b6af37');

insert into id_leases values ('253db8d2-410c-49be-a731-9982d34c74c8');

insert into id_leases values ('9bc0dc78-0bf0-47be-9f23-ad26493a2295');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795581597489');

insert into schema_migrations values ('2', '0002-lists.sql', '1795581597599');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795581597625');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795581597644');

insert into schema_migrations values ('5', '0005-administration.sql', '1795581597676');

insert into schema_migrations values ('6', '0006-usage.sql', '1795581597835');

insert into token_keys values ('535926ae', '1795581599527');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '535926ae', 'Dhpozu1CaIa-ukAes_edgk1LHlG3rTDqkLT7BxnhlTcOU5zJl6QLwKU0zjMLsLJGujHdHRA', NULL, NULL, '1795581599562', '1795581599562', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'rwvcDb9T0w38USnIB6DYWcySpym6JpMgcw5JYtjKAGY', '535926ae', 'z07-pvz4p_n0_-v48t3oDR3xXVGon4UjxS78kUiePmZhjcxVjFdIdqGAguZkjdbM5kt1byIRvG_K-ueLFCHFuiCBE3mwaQ17JQYIWfZzawbZChiA', NULL, NULL, '1795581603030', '1795581603030', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'KM_Ghx0Uf9klTfruM-CNkU0EsqBupbOf9rcmyk_uTC0', '535926ae', 'Fyoc42dpq--lkY0K7_ad_-quFxj1inP-ImwFtSCuggLYhzuMWF1-N3t3FiTai0_K57Jd_bSOtbW7HAvzaSXMpdhvMnnJk9uW17rcZ-ZOkAEbCrSA', '293Qm8snypgjliaeKM5Fe95sjp5NfOygtta139gzU6A', '1795585203039', '1795581602964', '1795581603039', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'oahjhrmbxb2-ZEc58rA_-hVboxOGX1dOuiNYhqUQ9DU', '535926ae', 'Spe66cTLzuubAsplDWO53zFIhj32bZO5Zy3Xhtxn4W8I_SXtqUdr3R6Jn6CpA_sMTxEAx4aWEgDsy_ejHkmVtfDVak6HncAXX1OFV0J3E9IUHaYo', NULL, NULL, '1795581603006', '1795581603043', NULL, NULL);

insert into workspaces values ('1', 'default', '1795581598024');
