-- {"tokenKeys":"c9449c5b:3Sn4ZuS7stZTbTGGVhulFWMc9oMjpkMYfKM1OvfwkQw","apiToken":"uga_gr33CmOfHqAVAqcoEdSWPDh03gYjySHee8Sr7FPrtQI4Gsjyj","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Ya4oTmu2lS14aBMUCThDulzztQhshW534gYATE9S8AGt1eF0a9"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyiugzJPxhbEpdwpz2bujtM7aiikBoauBeALgYgi6j3Kv0L34qg"},{"provided_id":"updated","name":"Updated","token":"ugt_26Pm99TfdaOl2YSUy0XIMOTHu2OtRN7FunGFXSGgvOmsmI3YHuxd"}],"administration":{"apiToken":"uga_2TgNPUSV6QjuoFzeUvBPmdGPNAnmMHSw09VPkS9vcVv0fAeq6","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eexa7SgkiAkVDZsHTjT05soCrsTRSnHn3vHPbF4M5ffgi3E2mio"}}

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'AZJS22hGdO1dB9y7H3xXedQVSinkGyfT3qfpADKWbdU', '1795582039853', NULL, NULL, NULL, NULL, '1795579200000');

insert into api_tokens values ('2', '1', 'Customer', 'admin', NULL, '4Ry84uDwk3TbjLuQzkpP0tygem1biYMnQYWnO5qP8do', '1795582043707', NULL, NULL, NULL, NULL, '1795579200000');

insert into documents values ('1', 'Customer', 'schema', 'orders', '1', '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, '1795582049798', '1795582049798');

insert into documents values ('1', 'Customer', 'data_source', 'shared', '1', '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, '1795582049798', '1795582049798');

insert into documents values ('1', 'Customer', 'mapping_policy', 'default', '1', '{"mode":"report"}', NULL, NULL, '1795582049798', '1795582049798');

insert into documents values ('1', 'Customer', 'property_schema', 'default', '1', '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, '1795582049798', '1795582049798');

insert into documents values ('1', 'Customer', 'integration', 'metabase', '1', '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', 'c9449c5b', 'KEsv7tjGuoTmqC6anrnPoXPLBTRWF-owZ5PU-0YVRXRDOFyZP8JzvDftw905nOB3KRhCIrg8cbO3tdsa', '1795582049798', '1795582049798');

insert into documents values ('1', 'Customer', 'webhook_endpoint', 'crm', '1', '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', 'c9449c5b', 'Wm8MtsC5UG3CrAh5jTL57j7eEg91CzlWhxX_tlQ6BW6-0TcXbZtGa5pgFsTIYfV2uFD8gHTbMhyaJ5Ok8HLS91Np5aRYH4YpOM5fcZvr', '1795582049798', '1795582049798');

insert into environments values ('1', 'Customer', '1');

insert into event_positions values ('true', '0', '7711966050919290130', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a21107973600001f93de0179ec5957', '783360', 'api_token.created', '1795582039862', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a211079d9d00008c717272d47d6753', '787456', 'user_group.created', '1795582041501', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('9591', '1', 'Customer', 'api_token', '2', 'evt_01a21107a63e000032b79ba11f63583b', '790528', 'api_token.created', '1795582043710', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21107bc3c000049d465ee5429c429', '793600', 'user_group.created', '1795582049340', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'rjlZIAU9-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21107bc610000055cfc6d1132b0bd', '795648', 'user_group.created', '1795582049377', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'rjlZIAU9-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a21107bc75000090ae6ab115ea2005', '796672', 'user_group.created', '1795582049397', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'rjlZIAU9-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21107bc8600004b6a6db00d1cd8e7', '797696', 'user_group.token_rotated', '1795582049414', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'rjlZIAU9-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21107bc990000a31afffde1f1f2ac', '798720', 'user_group.updated', '1795582049433', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'rjlZIAU9-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21107bcaf0000d9e155dc17238434', '799744', 'user_group.created', '1795582049455', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-7', '1', '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21107bcb700001249311c9bba26bb', '800768', 'user_group.updated', '1795582049463', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-8', '2', '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values ('14325', '1', 'Customer', 'schema', 'orders', 'evt_01a21107be060000b2a1218552550f24', '802816', 'schema.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values ('7161', '1', 'Customer', 'data_source', 'shared', 'evt_01a21107be060001ca7680c770b65455', '802816', 'data_source.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values ('8554', '1', 'Customer', 'mapping_policy', 'default', 'evt_01a21107be060002e52f47042886a2f1', '802816', 'mapping_policy.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"mode":"report"}}');

insert into events values ('8554', '1', 'Customer', 'property_schema', 'default', 'evt_01a21107be06000366a45bd1fda4e0be', '802816', 'property_schema.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values ('3891', '1', 'Customer', 'integration', 'metabase', 'evt_01a21107be0600049deeec9327d24004', '802816', 'integration.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values ('16079', '1', 'Customer', 'webhook_endpoint', 'crm', 'evt_01a21107be060005c3d1654e030a8812', '802816', 'webhook_endpoint.created', '1795582049798', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'rjlZIAU9-9', '1', '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '3');

insert into id_blocks values ('team_id', '4001');

insert into id_blocks values ('data_source_id', '2');

insert into id_leases values ('8a79b63c-a64c-4a08-a0d0-214c1071ac1d');

insert into id_leases values ('37c9ea1b-e124-420c-82de-073adaceca86');

insert into id_leases values ('8be89203-b621-4b54-b3fb-eb2beefe047e');

insert into id_leases values ('b6dfdabd-546b-4499-81cf-76eb634a811b');

insert into id_leases values ('c9c36c06-82b3-42ed-9fae-a837f73499a2');

insert into id_leases values ('203a6f3f-982d-4f7d-83b6-d2f319c85a79');

insert into id_leases values ('c9cf138a-2e25-43a2-87c7-8c0e1c21a34b');

insert into id_leases values ('5140020a-b023-4e0b-9125-ae37f171e850');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795582039265');

insert into schema_migrations values ('2', '0002-lists.sql', '1795582039361');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795582039381');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795582039391');

insert into schema_migrations values ('5', '0005-administration.sql', '1795582039425');

insert into schema_migrations values ('6', '0006-usage.sql', '1795582039485');

insert into token_keys values ('c9449c5b', '1795582041440');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'c9449c5b', 'yC1AZBu3RvgAU3UFMPjnksdTb2gUofeNIZAQikGaKOsXo7MHTJFLCyL9CLKayMftdouGctw', NULL, NULL, '1795582041501', '1795582041501', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'PIyuBdX4WbfOiMFTvxYjwiCHMYd_RQvgQkreScLXY78', 'c9449c5b', 'W3LZK0VX2LbAiPKipp1Unh93ywAfVdaK1EJ0mMotJTI92ZKIYRHfwmE8_LKspbVrZw3MiI7W04kR3t7iD8QgaFev7g8diTw_A7cUTxP9EAmuVm8S', NULL, NULL, '1795582049397', '1795582049397', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'fdtAIo3FZiSgiSLTGJKR0xcRJuzZ9jd9UNwTTs4tQjY', 'c9449c5b', 'BsGtDv-mhgxA2MzNh70ZI4COW8TTC0waHgbgDmlZn3hCgcy_f7jogmXp1tLOLuw_kVPkNG0qxummmCVd0i6wxDIEQ2nPUmc9kT78j5LCOqTtaAXe', 'b-0VnNmZoiqN9TvXEbUxJSWPlu1YbcLuPzH3ver2bpU', '1795585649414', '1795582049340', '1795582049414', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'H7iV2bfoYuUiyV0M9y5UmwtU_DN40ELzIOkgeSGZv3I', 'c9449c5b', 'hZbxmO1koRZ5u6VhkupssTCPKVbuFKOi_NYlvCRND0swCSbipIJCc6hRCVOgiDzi_zuqZFkEQ-gpBP2mZE_hrtU97SjIiTQ0HXyvxU0wWEAhBXfr', NULL, NULL, '1795582049377', '1795582049433', NULL, NULL);

insert into user_groups values ('6364', '1', 'Customer', 'suspended', '2004', 'Suspended', NULL, '{"id":"suspended"}', '2', 'ocR0Q_JqZ-9n4Tekbb-4IJyk7mPAx4yYhakWUILHeyY', 'c9449c5b', 'ckQXV4TKJRdExhGJRSCwbnJDa6wt4fEnpvVFAT7IFdsMRmChiBWrRp4Dk8aAJXbK2K3L1-6uje242RstQRv7VPfEl_fW8BIN2jp7AZvH47lZFPqm', NULL, NULL, '1795582049455', '1795582049463', '1795582049463', NULL);

insert into workspaces values ('1', 'default', '1795582039777');
