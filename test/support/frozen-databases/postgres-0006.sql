-- {"tokenKeys":"86ede01e:4xs6PJZZIWria1vDn5xRAQSyE5cV6YJ3i9nPvSksLkg","apiToken":"uga_PIDUkk7mnwFWP2rq1rgUCKc3oUVekd3qyO9N5Uka3P30bHW9m","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YJYkjuOmVl8HcPR9i6ZOvGVwPYlIbNttzbkM1rY8asOB05VW0M"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iytPFLZL7fgaDRzhn4cxx9EiJxjluNI7rygm88FTsE4ZH2IePtZ"},{"provided_id":"updated","name":"Updated","token":"ugt_26Pj8cYj8pN5OWOksBgG8v0aoBm6RYH3uCizrwzkAM45zh2oJnRN"}],"administration":{"apiToken":"uga_hGiE1Q7sHzWxICIN0dR0vR8slllG0q8c5K0iiFK6E8L1Tgzof","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eeQEROL02WV99s4g9AmoHVkJqT7bM2hm23VyiKGTqGiwD0l0wuO"}}

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

create table environment_figures (
  workspace_id bigint not null,
  environment text collate "C" not null,
  counting_until bigint not null,
  counted_at bigint,
  figures text,
  constraint environment_figures_pkey PRIMARY KEY (workspace_id, environment));

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'FPD-DoCVTUO2kdbSYyS6E132aeyHNimawGyYqRHwir4', '1795582647420', NULL, NULL, NULL, NULL, '1795579200000');

insert into api_tokens values ('2', '1', 'Customer', 'admin', NULL, 'b51qPWxd4rre5W6BYAkUCN-MDtJAdD8DpBCvda2kQcY', '1795582649153', NULL, NULL, NULL, NULL, '1795579200000');

insert into documents values ('1', 'Customer', 'schema', 'orders', '1', '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, '1795582655573', '1795582655573');

insert into documents values ('1', 'Customer', 'data_source', 'shared', '1', '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, '1795582655573', '1795582655573');

insert into documents values ('1', 'Customer', 'mapping_policy', 'default', '1', '{"mode":"report"}', NULL, NULL, '1795582655573', '1795582655573');

insert into documents values ('1', 'Customer', 'property_schema', 'default', '1', '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, '1795582655573', '1795582655573');

insert into documents values ('1', 'Customer', 'integration', 'metabase', '1', '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', '86ede01e', 'tKY_TlrdMumT_WK6C0uvdT5jskWM022mtPJXZur-OpKMrCkWdKP_fimB8HKNHAVSROZvNXTeFOjTDHw6', '1795582655573', '1795582655573');

insert into documents values ('1', 'Customer', 'webhook_endpoint', 'crm', '1', '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', '86ede01e', 'NlDl_V0fjjsRJkTp3uTkdWmixx7Eix-eHNWLdAxJWsymDXY_Npktw_W_nzaV-GWvSC_scNq6cYZj01ZRNgw6JxbA2M45X3QLD3STIyDP', '1795582655573', '1795582655573');

insert into environments values ('1', 'Customer', '1');

insert into event_positions values ('true', '0', '7711968671950686551', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a21110dc7e0000338d85a1b5b68e04', '783360', 'api_token.created', '1795582647422', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a21110df9300001886af014aa4982f', '787456', 'user_group.created', '1795582648211', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('9591', '1', 'Customer', 'api_token', '2', 'evt_01a21110e34a0000ecb7c3329bdcb528', '790528', 'api_token.created', '1795582649162', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21110f9060000705d6ad7b5e1e136', '794624', 'user_group.created', '1795582654726', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'pOzzvOuI-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21110f9780000bdb1430bbd6cf3eb', '795648', 'user_group.created', '1795582654840', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'pOzzvOuI-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a21110f98c00006bd8e0d2ee6f09d4', '796672', 'user_group.created', '1795582654860', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'pOzzvOuI-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21110f9ba0000e01d70c3011d718c', '797696', 'user_group.token_rotated', '1795582654906', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'pOzzvOuI-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21110f9c60000e3d47e7eec536d73', '798720', 'user_group.updated', '1795582654918', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'pOzzvOuI-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21110f9dc0000bc904d02fcb19d8e', '799744', 'user_group.created', '1795582654940', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-7', '1', '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21110f9e5000094c50c5e62df76d0', '800768', 'user_group.updated', '1795582654949', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-8', '2', '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values ('14325', '1', 'Customer', 'schema', 'orders', 'evt_01a21110fc55000061457c27f8c0bcf2', '802816', 'schema.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values ('7161', '1', 'Customer', 'data_source', 'shared', 'evt_01a21110fc550001141ca97ba2d45f0e', '802816', 'data_source.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values ('8554', '1', 'Customer', 'mapping_policy', 'default', 'evt_01a21110fc55000265e6e95f55f68183', '802816', 'mapping_policy.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"mode":"report"}}');

insert into events values ('8554', '1', 'Customer', 'property_schema', 'default', 'evt_01a21110fc550003c6f3ab1dbff5d3c3', '802816', 'property_schema.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values ('3891', '1', 'Customer', 'integration', 'metabase', 'evt_01a21110fc5500041c920b40c2b0e780', '802816', 'integration.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values ('16079', '1', 'Customer', 'webhook_endpoint', 'crm', 'evt_01a21110fc550005081499f2357c5747', '802816', 'webhook_endpoint.created', '1795582655573', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'pOzzvOuI-9', '1', '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '3');

insert into id_blocks values ('team_id', '4001');

insert into id_blocks values ('data_source_id', '2');

insert into id_leases values ('575199f6-069a-469e-8bfa-adf0a496ef0b');

insert into id_leases values ('0c32f5bd-a3db-4e42-aec1-82baf5a2d5c2');

insert into id_leases values ('3f0852aa-8eef-439e-ba18-da3b46df58af');

insert into id_leases values ('dfb19097-5759-44f9-ba22-2571f7c588a1');

insert into id_leases values ('4e3a6cc2-0496-4087-a29a-3dd45104835c');

insert into id_leases values ('0f26445c-6099-45dc-8a52-2c2123936bc1');

insert into id_leases values ('3bc2e913-1b62-4bb9-b328-25f928cdc645');

insert into id_leases values ('3f996567-4f98-4938-8040-7bb9273cba05');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795582647283');

insert into schema_migrations values ('2', '0002-lists.sql', '1795582647318');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795582647322');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795582647331');

insert into schema_migrations values ('5', '0005-administration.sql', '1795582647341');

insert into schema_migrations values ('6', '0006-usage.sql', '1795582647365');

insert into token_keys values ('86ede01e', '1795582648186');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '86ede01e', 'lGLPkSs_Hd3Xpi0qSRukzKfre0ZDFbldaG2QUrPynTGpv5yAp5qOFuJ7WPiU4WUfXqHNMvI', NULL, NULL, '1795582648211', '1795582648211', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', '__jy-AP7xAxzDfs-Qm3_b0-Ca97h2kOZkJWdIa5x9HM', '86ede01e', 'drupTNL5ozp-iMAR74Q1GF0OU2cJ-DbxtgK_Id_mU-3Mc5ejx7O3sOrcoll9DI_vCjyWRiM99x7t-S67jmxM7WJFzu7-miRu6PeOuCQdKbPu6mq-', NULL, NULL, '1795582654860', '1795582654860', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'GapJR3Wmn1H1goKbJYykFt4ug-ZZ1-wE29cgFHLEfd8', '86ede01e', '9d2gWiiW2IZDiupP2fVrgHIcw6LZOAdEjgItukf0BpHQCZf8q4osGM9ATI8H5UM5PUip9tYFUSEQqWPF6SCATP5bSxXde7xAPAIQtYKrrnN28nWv', 'cXq5zxDzrxumtg8EXu4SUC1zokKX3VHwb-7ocfW8FwI', '1795586254906', '1795582654726', '1795582654906', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'alUzg27hqGswRqUxcGCab0AKd0OMp7zxRnpOkKrLubU', '86ede01e', 'A1EDhp_DnqN-PYQDDwEpnVOK5JS9p9g77hk8fJivSg-3U7rQ8KqRegOIL7u-5nQlWiMPq6RC-p7U4rAXHsvusDuAVKWW4A8k9v6jYAWNpCzQ39kk', NULL, NULL, '1795582654840', '1795582654918', NULL, NULL);

insert into user_groups values ('6364', '1', 'Customer', 'suspended', '2004', 'Suspended', NULL, '{"id":"suspended"}', '2', 'DuAxoYTi2eoRE1m8bjyntSU2fs6pYURsYXOIv7s1vYg', '86ede01e', '55QH_8E4Un283ial0JbHTCae5DlZs_Nr9oVACWJB9Mov16SAx7yMD9IhiF3i7mCuuGsMuHy6C70pS7XYvjjb0Z_PR_LwhZHN7fw-MVFRP2FKc1lp', NULL, NULL, '1795582654940', '1795582654949', '1795582654949', NULL);

insert into workspaces values ('1', 'default', '1795582647404');
