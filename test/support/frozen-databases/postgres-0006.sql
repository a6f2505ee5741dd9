-- {"tokenKeys":"f8597ddc:RaJLyvNWG45d35HiedryyBgIlSRnyJpYSbpz1gEJJTk","apiToken":"uga_iwRzg7alyg7llbsLDBt9rtNLZyT5wTElLt5okRUjR3K02dUer","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YyMybuBbx8YD9soPd9FmmyH2TVopYIulsQ0FXk31uLaa4O3NZd"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iy965DVngKrk0PtsTojGCRvt0a3vQaJ9r20cPHyGUf1M32fhL9Q"},{"provided_id":"updated","name":"Updated","token":"ugt_26PMfIkWJcjxVpR7DaZ5fyIWLpznCguAUOUQxQZndVLv1G1zfUTg"}],"administration":{"apiToken":"uga_2Ik8HGLVA0QHyZY9R2kCZbmWLaU3zq4hf3MhNArU9Aj1gwDo5","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eexqAVemtbLbLYFtDvy1BbIP7QeJBmd23Sq5KcpKfeBlH04WFEU"}}

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

CREATE INDEX api_tokens_expires_at ON api_tokens USING btree (workspace_id, environment, expires_at) WHERE (revoked_at IS NULL);

CREATE INDEX api_tokens_previous_digest ON api_tokens USING btree (previous_digest) WHERE (previous_digest IS NOT NULL);

CREATE INDEX api_tokens_revoked ON api_tokens USING btree (workspace_id, environment, api_token_id) WHERE (revoked_at IS NOT NULL);

CREATE INDEX api_tokens_unrevoked ON api_tokens USING btree (workspace_id, environment, api_token_id) WHERE (revoked_at IS NULL);

CREATE INDEX api_tokens_workspace_id_environment_api_token_id ON api_tokens USING btree (workspace_id, environment, api_token_id);

CREATE INDEX deliveries_due ON deliveries USING btree (workspace_id, environment, endpoint_id, next_attempt_at) WHERE (next_attempt_at IS NOT NULL);

CREATE INDEX deliveries_endpoint ON deliveries USING btree (workspace_id, environment, endpoint_id, event_id);

CREATE INDEX deliveries_failed ON deliveries USING btree (workspace_id, environment, endpoint_id, event_id) WHERE (state = 'failed'::text);

CREATE INDEX events_feed ON events USING btree (workspace_id, environment, "position", event_id);

CREATE INDEX usage_counts_day ON usage_counts USING btree (workspace_id, environment, day, provided_id, kind, integration);

CREATE INDEX user_group_renames_position ON user_group_renames USING btree (workspace_id, environment, "position", event_id, direction);

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, '7W6ZgDf2zZDh1_HzbgGlOWJYw6WKYEjfQ2rBU44FdpA', '1795837722283', NULL, NULL, NULL, NULL, '1795834800000');

insert into api_tokens values ('2', '1', 'Customer', 'admin', NULL, 'lR4n79zoAWX6zXiaupW4Z-_Yk5Kab6r4CoPBKyvGsoo', '1795837725381', NULL, NULL, NULL, NULL, '1795834800000');

insert into documents values ('1', 'Customer', 'schema', 'orders', '1', '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, '1795837735383', '1795837735383');

insert into documents values ('1', 'Customer', 'data_source', 'shared', '1', '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, '1795837735383', '1795837735383');

insert into documents values ('1', 'Customer', 'mapping_policy', 'default', '1', '{"mode":"report"}', NULL, NULL, '1795837735383', '1795837735383');

insert into documents values ('1', 'Customer', 'property_schema', 'default', '1', '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, '1795837735383', '1795837735383');

insert into documents values ('1', 'Customer', 'integration', 'metabase', '1', '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', 'f8597ddc', 'zK0U-KY5FUkHteabSaGYOpw2cxgEG2jV_SAI77kGdLQAm7ipmzQy3k76mlJI3hcvdoiwa_L90hqqL7yj', '1795837735383', '1795837735383');

insert into documents values ('1', 'Customer', 'webhook_endpoint', 'crm', '1', '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', 'f8597ddc', 'Yq9IpnkkGBF_IWGxBzd13M4_aaGKvlssN0YgbgETe-gEYD_e5pQPMmMocZFcnPuAcr8rb6-zVb7gDTNLY_mz2ZtaCbYNlVDWNfn9DJXa', '1795837735383', '1795837735383');

insert into environments values ('1', 'Customer', '1');

insert into event_positions values ('true', '0', '7713064150755635283', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a22044feb70000a98fa85d5fded2d2', '783360', 'api_token.created', '1795837722295', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a2204506ea00003dbe7c443969f1b7', '787456', 'user_group.created', '1795837724394', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('9591', '1', 'Customer', 'api_token', '2', 'evt_01a220450acc00007e1ae47e3eae4c77', '790528', 'api_token.created', '1795837725388', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a220452dc6000036f37779a94c1d9a', '793600', 'user_group.created', '1795837734342', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B5NXdDZD-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a220452e0e0000ec89c8bed4686e4e', '795648', 'user_group.created', '1795837734414', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B5NXdDZD-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a220452e3100008d646533cb40b0b1', '796672', 'user_group.created', '1795837734449', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B5NXdDZD-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a220452e50000003fe0b18a0bf525f', '797696', 'user_group.token_rotated', '1795837734480', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B5NXdDZD-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a220452e5d00007570b956f036f1c7', '798720', 'user_group.updated', '1795837734493', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B5NXdDZD-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a220452e7c000089de92876d8b7f00', '799744', 'user_group.created', '1795837734524', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-7', '1', '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a220452e8a0000d6b23fa924c79b28', '800768', 'user_group.updated', '1795837734538', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-8', '2', '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values ('14325', '1', 'Customer', 'schema', 'orders', 'evt_01a2204531d70000b0fa7629e724f369', '802816', 'schema.created', '1795837735383', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values ('7161', '1', 'Customer', 'data_source', 'shared', 'evt_01a2204531d80000f8449820b0724663', '802816', 'data_source.created', '1795837735384', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values ('8554', '1', 'Customer', 'mapping_policy', 'default', 'evt_01a2204531d80001940a5fa9549ebe46', '802816', 'mapping_policy.created', '1795837735384', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"mode":"report"}}');

insert into events values ('8554', '1', 'Customer', 'property_schema', 'default', 'evt_01a2204531d800029f84b556b8e017e3', '802817', 'property_schema.created', '1795837735384', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values ('3891', '1', 'Customer', 'integration', 'metabase', 'evt_01a2204531d80003cd8a18748934fa72', '802816', 'integration.created', '1795837735384', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values ('16079', '1', 'Customer', 'webhook_endpoint', 'crm', 'evt_01a2204531d800046a64f96780d5904b', '802816', 'webhook_endpoint.created', '1795837735384', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B5NXdDZD-9', '1', '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '3');

insert into id_blocks values ('team_id', '4001');

insert into id_blocks values ('data_source_id', '2');

insert into id_leases values ('3e0f534e-057b-4f6f-a995-82e69cbdae52');

insert into id_leases values ('377eff24-02f1-4e6c-9b32-0fb57d6b8a0c');

insert into id_leases values ('116c740c-46f1-4d41-b726-528a322951f4');

insert into id_leases values ('81432011-2e25-44c9-ab95-dcfdccd249f7');

insert into id_leases values ('ad101ea4-c0a3-4a43-a5d7-f5b84895d3da');

insert into id_leases values ('ad886f1c-1a09-4b9d-959d-e47b4721cc28');

insert into id_leases values ('b7c08356-8df6-4c0c-b2d8-71880d56101f');

insert into id_leases values ('39a6b5ed-c512-4434-bff0-d81bd08df0e5');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795837721746');

insert into schema_migrations values ('2', '0002-lists.sql', '1795837721858');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795837721873');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795837721891');

insert into schema_migrations values ('5', '0005-administration.sql', '1795837721913');

insert into schema_migrations values ('6', '0006-usage.sql', '1795837722047');

insert into token_keys values ('f8597ddc', '1795837723752');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'f8597ddc', '7Q1NXpgxZWHGlRqFc7Q-2zqGJATFzZMGR35cWa-ZbSWwKaeet39uo8X7JFKuYoAZOD4H5hE', NULL, NULL, '1795837724394', '1795837724394', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', '-9Hx0ny9tBS6C0Xg8NzeuUs986kUdc1kqmgtc8N55oo', 'f8597ddc', 'ZomQ9VhIuzsDw1Ma679KO-7rhZrVvkaeeiA9EmfTDSRXVtSRjNQNN-I2nVRFoRxWi7mMh_tUOlp6c3OQztyQTQz5qshVQrW7xYkFTltqQp0XvFIb', NULL, NULL, '1795837734449', '1795837734449', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', '4C6akoNswV-1FagI4RExev-SPaMVvFzi17TGDoOznmM', 'f8597ddc', '-zApByYAAD6Qyjm_oft2GeCp-cFnHQtJu3EonxSjwuhMOOyHaZUISDsRTSWDeOayzaFgVSyA5dKsuBqVmTI6-WRMwmdd5T4uaD2NxoRmfLQgcESs', 'uCavRXyrWo-frWkRn6EmPxSlkR7fpsLCyvnQPTj_1ts', '1795841334480', '1795837734342', '1795837734480', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'y_g82w93rQEc4i-azzoOKzpmOHYZx1UtkFwLvoNCBlQ', 'f8597ddc', 'ee8My1gucaMo0pbBAmsKdXyMeRsZ6yrwKrae52mMHXjRuykj-ni033WSSLSPcDDRvTw1V-ur4BNvhgXe29UEuuuJDfNkGuvMotOnNXwTwmx0drGY', NULL, NULL, '1795837734414', '1795837734493', NULL, NULL);

insert into user_groups values ('6364', '1', 'Customer', 'suspended', '2004', 'Suspended', NULL, '{"id":"suspended"}', '2', 'FeFRpvkW6BTtdZwQBtLyAKAgKyO82cJG0KTMdtVt7_I', 'f8597ddc', 'uld_yFImKYOa8iJ1uB3_BV3MD1OS2n7-ntiqD8uZNFxWIvgllAEaFxt6vs9Bbo7J8SAnwbckBqVuZVSdwFs5Xsyjby_B8mKF2DQ8H0DlRIWdSsot', NULL, NULL, '1795837734524', '1795837734538', '1795837734538', NULL);

insert into workspaces values ('1', 'default', '1795837722236');
