-- {"tokenKeys":"559c4e0e:K33O5wtjnyis4RBPk2l8ZhqhV7jN_vMrIrgKKAg-q8k","apiToken":"uga_LuNvuZJnrkXENpGSZO91ZJ2bJdr0CroLCiKKrebg0kd1xLRyX","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YNSZlDp0dU4mFybTiyZm83GTe8T6y6n4kGj4vkIjQh6u1bdh4r"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iywcJ89WefLZM6xHtCpkXgskLvV31JOe9RqH9GQCZMMNG1vUY3i"},{"provided_id":"updated","name":"Updated","token":"ugt_26PDrX567l9Q3K8LZwbtODy74GgwOsY3NRY1BPQp5PVPCu2tKzIw"}]}

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

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'ytencuRGPMXMNU_sfPN6nxFx3b0wiixtU-HADlCXaQM', '1795415759615', NULL, NULL, NULL, NULL, '1795413600000');

insert into event_positions values ('true', '0', '7711251953098551885', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a2071e5b0000004aa5116895456d76', '782336', 'api_token.created', '1795415759616', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a2071e5c3b0000af6e24e1cd1d9985', '786432', 'user_group.created', '1795415759923', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a2071e5e280000465d51e7b7ea8dc7', '790528', 'user_group.created', '1795415760424', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'R9YhDemh-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a2071e5e3900004ef614eed2b5f257', '792576', 'user_group.created', '1795415760441', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'R9YhDemh-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a2071e5e44000063c13ee0d9c36807', '793600', 'user_group.created', '1795415760452', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'R9YhDemh-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a2071e5e50000049791e37e933a20a', '794624', 'user_group.token_rotated', '1795415760464', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'R9YhDemh-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a2071e5e550000ede04ee892fcb3c7', '795648', 'user_group.updated', '1795415760469', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'R9YhDemh-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('data_source_id', '1');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('18165760-f5c3-457e-9e73-6481f57f23d4');

insert into id_leases values ('c60375bd-55a0-41fc-bc65-77b1e5f9ffcc');

insert into id_leases values ('d9fe9949-c877-47db-a659-c790b0c5884f');

insert into id_leases values ('2d99b1d5-6a70-40c0-8a8b-be62fc607cbf');

insert into id_leases values ('9bdebb9c-608c-477c-ac9f-2a6120e21dcb');

insert into id_leases values ('abaf9521-fff5-41bc-98cc-a9de2a518f04');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795415759533');

insert into schema_migrations values ('2', '0002-lists.sql', '1795415759555');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795415759559');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795415759563');

insert into schema_migrations values ('5', '0005-administration.sql', '1795415759567');

insert into token_keys values ('559c4e0e', '1795415759908');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '559c4e0e', 'uapU7fzLXy36sgbzJjVyABGbwioXzfvdIdAfP3u--NuLpLsdFDb3joheWGbuNO8GjI0u0uw', NULL, NULL, '1795415759923', '1795415759923', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'pKikaMIdHpkBTV8pEf8BzugM7oRPjAycooQvFguCa1o', '559c4e0e', 'IuREZ60eRPiuzQRJoqg4dJyepfrCK8jLH_EhyJokeTnVRkhBuQWmExJI8m18ZZJnlJPR7cbd9cA57eMemayuw0Ocy8u91W57Qk8j0LjoTD8riEVH', NULL, NULL, '1795415760452', '1795415760452', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'UjKztbEPaAtClfTBuAl0dP927InRVRT_2TZF5ouv_1s', '559c4e0e', 'ThoGVfHnw0vRg3aEKUZBFygyYgke8bEkqHwbpep6wkSIsn4eLHYDgsGSetGMMb9Wq0392pLeCGSzCH6aZEqXyXcECELTc-w44XJavSv3wLb_2qF1', 'WZWZLjkgSn7-UbdqY3TWhDJRVaV2l1dgpPe32qsz_e0', '1795419360464', '1795415760424', '1795415760464', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'mIxhtzO_BDOHQIQ1MbMk7w9DUqpS1pa4pyhMyIPgKHo', '559c4e0e', 'DRoMlK5CLcdunJMTVD01-guEddyyfZr6UH6djwZP62NdQntEKKaeuioCb14-_3WcOKXxX0dzlh_WjD0Lr82JpVDPl9b6mZ0QWBcLsFnYiMMvacwY', NULL, NULL, '1795415760441', '1795415760469', NULL, NULL);

insert into workspaces values ('1', 'default', '1795415759606');
