-- {"tokenKeys":"d09dd408:TzXI02TfzZn1f3GDP8zdgfjkJCnlEKr44sbX3P2eH3s","apiToken":"uga_hzxsIt33FnlobCpBrOQMJIqNoWx6MdZp3xtU5AKX1Wm42wC2t","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YTPyCeYFD6yeqLsIqImX8R9G0xB4iBKj7eCJorVwJTcB3Lnj89"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iynCPANs9XuNMXUwix491CmQt2OeCW424q0Lk5Wv2XtL31KTJwV"},{"provided_id":"updated","name":"Updated","token":"ugt_26PfRmq1R6zd7Pk34ptQdAoYafLrXgQnlS3aeevMx8e3CJ06uYJt"}]}

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'pwLKEhAGd5Len_SBBc5sL-KY_guujzdUu599pyGCrIU', '1795580257639', NULL, NULL, NULL, NULL, '1795579200000');

insert into event_positions values ('true', '0', '7711958433540809973', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a210ec656e0000807a41c09590f650', '783360', 'api_token.created', '1795580257646', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a210ec69e10000010dc0fa7013ea2a', '787456', 'user_group.created', '1795580258785', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a210ec7774000038009d11f83db133', '791552', 'user_group.created', '1795580262259', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'P3AVe5dY-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a210ec77ae0000ad1b3d40832b43dd', '793600', 'user_group.created', '1795580262318', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'P3AVe5dY-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a210ec77b9000088de8d53683a5f84', '794624', 'user_group.created', '1795580262329', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'P3AVe5dY-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a210ec77cf000050917fe2a282e90b', '795648', 'user_group.token_rotated', '1795580262351', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'P3AVe5dY-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a210ec77d60000f166f0ef87d43916', '796672', 'user_group.updated', '1795580262358', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'P3AVe5dY-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('data_source_id', '1');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('81d7a148-49c2-4655-97f7-af5c26fc48c6');

insert into id_leases values ('75e5e730-fc85-49ce-b97b-faf1dad076e6');

insert into id_leases values ('d5e23370-68fc-4539-8d02-3b496d967447');

insert into id_leases values ('6a6cc11d-0f0c-4fb5-aab0-8814ced7861d');

insert into id_leases values ('f351f675-c31e-4bb7-9bb3-a94abe6ac602');

insert into id_leases values ('8f78c22c-d660-4440-84bb-02a43f2401f6');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795580256892');

insert into schema_migrations values ('2', '0002-lists.sql', '1795580256918');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795580256924');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795580256933');

insert into schema_migrations values ('5', '0005-administration.sql', '1795580257104');

insert into schema_migrations values ('6', '0006-usage.sql', '1795580257147');

insert into token_keys values ('d09dd408', '1795580258722');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'd09dd408', '5TJqqMkrD5phst5JX7sx3UMnur3i3Mg72vcIiRTJzfsnqm_oDTcudFHeZLN6mt3-SZ1IE_8', NULL, NULL, '1795580258785', '1795580258785', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'nD4s2_80idvgMerGeMp3j5OyW3CCkIQ7Q1s5LPTI1VE', 'd09dd408', 'SmgiPk7pIlEayh31UdWugZlYgjPBe5zWL-bd1z9cViZQDJPq_hFVU_fL0_cPC9adQQIQW-V6w-1BXem91WBZ4N3RZeSGojnEy_YejjWAXZKCNx3G', NULL, NULL, '1795580262329', '1795580262329', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'b56nw-t3gQHGkG1SbaCc7OjeV1uyG1aNMqmM95VvfKI', 'd09dd408', 'oKv7fkHE2-rI8zayS80WrjXnovifTGg_hOTH29iaArZbEhEUX_s8nkJkYl2UNumZe2swUi9-PIQWMmC7hqCPr5qvt_UYYjDGx38ZELfhYsRqgn9L', 'grSSSP468hqpuqRmMv26Bs0mNrzLXDh-XIqorbFmo5c', '1795583862351', '1795580262259', '1795580262351', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'yFXQSTNSSwXQSN7Zfts59GDCdRRAzGU9wMpSvcVaFVQ', 'd09dd408', 'hG-fJRA-texIF1w7fZ6dE0J-yE9wn8tpLRFit4-o-HR_ndHOkbVg_tnpaviuC-8Cu46vRb4RDs1Fk493aV75rCfaMhJKo8zrYDukO5NCVDRL06dQ', NULL, NULL, '1795580262318', '1795580262358', NULL, NULL);

insert into workspaces values ('1', 'default', '1795580257408');
