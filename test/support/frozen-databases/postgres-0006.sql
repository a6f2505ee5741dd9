-- {"tokenKeys":"b4c5fc0f:flNWutPu_bdyKiC3vJVCGzH5cxMURy9_HNGxf-rfQWI","apiToken":"uga_VpwAob2QqEBAlqZFS4tt6tO3E8lsEAQUmb4wYQBAW9r0LoMXI","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Ya6InzjHpYh22YtzFfrblmLhsPHMrcvtP17Iz7garWUc0ejkE5"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyONmMjQhA15T9I5mBxFUhnh6iHEn9rM80wg1R7tvGiy11t0gJV"},{"provided_id":"updated","name":"Updated","token":"ugt_26PGPZ3uxZPGvwBwnx6KW3c1mu4iK3AIyOAcO5cR6XRPiw4RKKTJ"}]}

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'pj6UPI76L_vIwcJEiVAvl-9dqIshyaS5OwYCf4AY7vE', '1795580510603', NULL, NULL, NULL, NULL, '1795579200000');

insert into event_positions values ('true', '0', '7711959506602688104', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a210f0418d000092a86845242f771e', '783360', 'api_token.created', '1795580510605', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a210f046a10000804c1e205d03a945', '787456', 'user_group.created', '1795580511898', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a210f0567f0000a8066f5f80184525', '791552', 'user_group.created', '1795580515967', '{"type":"api_token","id":1,"name":null,"via":"api"}', '42HVSkqT-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a210f0569a0000d186b0fcbc1e1507', '793600', 'user_group.created', '1795580515994', '{"type":"api_token","id":1,"name":null,"via":"api"}', '42HVSkqT-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a210f056af0000f260fcd362d3fc15', '794624', 'user_group.created', '1795580516015', '{"type":"api_token","id":1,"name":null,"via":"api"}', '42HVSkqT-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a210f056c60000e8c0cb2749844d67', '795648', 'user_group.token_rotated', '1795580516038', '{"type":"api_token","id":1,"name":null,"via":"api"}', '42HVSkqT-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a210f056d1000097e0a0a0c26cfc8b', '796672', 'user_group.updated', '1795580516049', '{"type":"api_token","id":1,"name":null,"via":"api"}', '42HVSkqT-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('data_source_id', '1');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('4289fb34-c4f9-45f6-8f55-a3c3162cc584');

insert into id_leases values ('2d86f6b5-1424-4a6f-8401-519d12b3b577');

insert into id_leases values ('256a682d-6402-4f32-88b5-2758c77613b3');

insert into id_leases values ('1c871d14-dc3f-4eaf-ae54-e89c5e97c28b');

insert into id_leases values ('aefb41e8-4eda-4e48-912a-193f72e9a6b6');

insert into id_leases values ('b643779b-3fd9-4649-85be-3787ef8600e1');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795580510371');

insert into schema_migrations values ('2', '0002-lists.sql', '1795580510414');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795580510423');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795580510429');

insert into schema_migrations values ('5', '0005-administration.sql', '1795580510443');

insert into schema_migrations values ('6', '0006-usage.sql', '1795580510489');

insert into token_keys values ('b4c5fc0f', '1795580511785');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'b4c5fc0f', 'C9D5z74rfiVqebFbOVzhpHQ2PgIGyhIG28LmftTRC4qA7tXXkScQYk54Z6ooeUx_UIIMBS8', NULL, NULL, '1795580511898', '1795580511898', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'cl6J5-auJ1d__rgQlQeHFXtZ37o8_ndrNN3qYDYMEe0', 'b4c5fc0f', 'VaT3nPTP-f63Bq1AfRYjZBnIH0bA4nNTJkJnxlDGDXLYT-zIXHz2aR8jhxIIIjvso7V2j7CSLerzndmUkJJaKhTtH3iWbP_DqDwWSMUR5glISC7k', NULL, NULL, '1795580516015', '1795580516015', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'fwob2Ul4cWYnPcjX1Sm_MRcmTgGcNd0xjfb2OIcLllA', 'b4c5fc0f', 'H11aP-6QpvKN0BmP6GS-I4KTtxs3UQvivZZXDgvTNWRnAVw1FR-9GnhItm0-pWTKVEKhv3vblVzjx7lVKEJierTi2-zwSv-AlzvQFXWb4d35PHvi', 'y5d-DEXcZ_iqAyrf4CxSJ8hUJcNVHl-SxqboxnEPv1E', '1795584116038', '1795580515967', '1795580516038', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', '3j0Kwkd34JB-UHSSachu5oFQ8MRzAlw2SY9p8TH-SEk', 'b4c5fc0f', '3ChgxhwGhFSDqAj1zYHQLw4RIGG-iNgqY4GDWawSi8ddgn4qCTCS3UgPXMPTUQoEN5M-8e9dIVULwGLr7fLTe3Da-XZe3KD4lBe9ozW5PcNlxaiz', NULL, NULL, '1795580515994', '1795580516049', NULL, NULL);

insert into workspaces values ('1', 'default', '1795580510580');
