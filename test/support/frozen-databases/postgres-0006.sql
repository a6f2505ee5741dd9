-- {"tokenKeys":"42c9b04e:-bg8VivPpbxPj2uLZUCGvmalE0AZwrDWLTKr85hliAk","apiToken":"uga_wr2DccSYuYTsshpW0uWjmLgxJCu2GEigMeBHKflgdmY2fdJVk","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Y4e4tIla2KdF212lVFhgINDkxGuNJNhR7B1PjsD0O0Wk005nJd"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iys76vx0VPZyXlGnj5bNiPQpFtKWLJoN4063WnZW2ntHQ0nfaul"},{"provided_id":"updated","name":"Updated","token":"ugt_26PVemBz1D1svYUP9psCjD884WBpRdTNA4JGiu7K96qkXm23ZAV9"}],"administration":{"apiToken":"uga_EPLGD2nFuyPrZU5gICiz5LbEaCbLIUlmm502F0xQjVm3EioIp","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1ee1IuRMcw5mDLumF5TH3kvjTAtjQ0nl2hMOsp7k2f4gqy1bbG7y"}}

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

CREATE INDEX deliveries_failed ON deliveries USING btree (workspace_id, environment, endpoint_id, event_id) WHERE (state = 'failed'::text);

CREATE INDEX events_feed ON events USING btree (workspace_id, environment, "position", event_id);

CREATE INDEX usage_counts_day ON usage_counts USING btree (workspace_id, environment, day, provided_id, kind, integration);

CREATE INDEX user_group_renames_position ON user_group_renames USING btree (workspace_id, environment, "position", event_id, direction);

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'OKGn14AW9OM6MLDHaMScgFwER6lXGN4-dxSGpcQ8SdQ', '1795742601115', NULL, NULL, NULL, NULL, '1795741200000');

insert into api_tokens values ('2', '1', 'Customer', 'admin', NULL, 'zcBWOvN41XrJvUd49a7J3H_upbW8GybUUwfhw9UVkNw', '1795742603055', NULL, NULL, NULL, NULL, '1795741200000');

insert into documents values ('1', 'Customer', 'schema', 'orders', '1', '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, '1795742607340', '1795742607340');

insert into documents values ('1', 'Customer', 'data_source', 'shared', '1', '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, '1795742607340', '1795742607340');

insert into documents values ('1', 'Customer', 'mapping_policy', 'default', '1', '{"mode":"report"}', NULL, NULL, '1795742607340', '1795742607340');

insert into documents values ('1', 'Customer', 'property_schema', 'default', '1', '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, '1795742607340', '1795742607340');

insert into documents values ('1', 'Customer', 'integration', 'metabase', '1', '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', '42c9b04e', 'o3kCfap4xBmMRGvc01sTQ2x4kvTkoWytxB4m2V1c0wPX-ZrBLdT9j3i8nUi4tOo-4h4dUb0GA0yHhmK4', '1795742607340', '1795742607340');

insert into documents values ('1', 'Customer', 'webhook_endpoint', 'crm', '1', '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', '42c9b04e', 'g606nGosbek_yr1zFnqsgwK-XTgsu3XDdLKo6BxWO80wiFByktUvinOQFkzYh8AgDLwfYqAAvGDptk--n7l7ASBH68_BSs6IfVNZZ3is', '1795742607340', '1795742607340');

insert into environments values ('1', 'Customer', '1');

insert into event_positions values ('true', '0', '7712655707827539551', '0');

insert into events values ('2302', '1', 'Customer', 'api_token', '1', 'evt_01a21a998f9c0000c93e0957cc678158', '783360', 'api_token.created', '1795742601116', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values ('16047', '1', 'Customer', 'user_group', 'imported', 'evt_01a21a999426000082418b5ad7979fb6', '787456', 'user_group.created', '1795742602278', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, '1', '{"from":null,"to":{"name":"Imported"}}');

insert into events values ('9591', '1', 'Customer', 'api_token', '2', 'evt_01a21a9997330000fdc89c099a669f1c', '790528', 'api_token.created', '1795742603059', '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21a99a696000043b6e212425cacdf', '793600', 'user_group.created', '1795742606998', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'JFK4w62Z-1', '1', '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21a99a6aa00002dfb45e8eaa05338', '795648', 'user_group.created', '1795742607018', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'JFK4w62Z-2', '1', '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values ('11938', '1', 'Customer', 'user_group', 'created', 'evt_01a21a99a6b100001a2db61ede292b08', '796672', 'user_group.created', '1795742607025', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'JFK4w62Z-3', '1', '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values ('6632', '1', 'Customer', 'user_group', 'rotated', 'evt_01a21a99a6db0000993c17a7c9093277', '797696', 'user_group.token_rotated', '1795742607066', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'JFK4w62Z-5', '2', NULL);

insert into events values ('8085', '1', 'Customer', 'user_group', 'updated', 'evt_01a21a99a6e40000784982547f737fef', '798720', 'user_group.updated', '1795742607076', '{"type":"api_token","id":1,"name":null,"via":"api"}', 'JFK4w62Z-6', '2', '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21a99a6f300007c90bb0902cfeafb', '799744', 'user_group.created', '1795742607091', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-7', '1', '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values ('6364', '1', 'Customer', 'user_group', 'suspended', 'evt_01a21a99a6fb000083c672beb75fb071', '800768', 'user_group.updated', '1795742607099', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-8', '2', '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values ('14325', '1', 'Customer', 'schema', 'orders', 'evt_01a21a99a7ec0000a9fc3d0616f8999e', '802816', 'schema.created', '1795742607340', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values ('7161', '1', 'Customer', 'data_source', 'shared', 'evt_01a21a99a7ed0000c696dc0ca4cb1adb', '802816', 'data_source.created', '1795742607341', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values ('8554', '1', 'Customer', 'mapping_policy', 'default', 'evt_01a21a99a7ed0001e9a163db4601119c', '802816', 'mapping_policy.created', '1795742607341', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"mode":"report"}}');

insert into events values ('8554', '1', 'Customer', 'property_schema', 'default', 'evt_01a21a99a7ed00022ed2b1c6b103e9de', '802817', 'property_schema.created', '1795742607341', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values ('3891', '1', 'Customer', 'integration', 'metabase', 'evt_01a21a99a7ed0003d031ec8a81e1adad', '802816', 'integration.created', '1795742607341', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values ('16079', '1', 'Customer', 'webhook_endpoint', 'crm', 'evt_01a21a99a7ed000498d1f9ccec90ba27', '802816', 'webhook_endpoint.created', '1795742607341', '{"type":"api_token","id":2,"name":null,"via":"api"}', 'JFK4w62Z-9', '1', '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '3');

insert into id_blocks values ('team_id', '4001');

insert into id_blocks values ('data_source_id', '2');

insert into id_leases values ('c439b28b-1879-448f-a491-2a8cff6e7772');

insert into id_leases values ('b717fe13-1355-40b5-9387-8ecbe539f28e');

insert into id_leases values ('a18525b5-80fc-4e92-ac71-bc05db2d6712');

insert into id_leases values ('48246c20-db1f-480c-9012-d16aa10d63b0');

insert into id_leases values ('e96386c6-c6d4-41a5-95c6-d7b084918164');

insert into id_leases values ('41ae58a1-ba3c-4bdf-a816-bfb51c5547c6');

insert into id_leases values ('9c4112e4-473e-4a35-b82a-6326e6227487');

insert into id_leases values ('9308cf09-76e5-4cbd-8155-284e12fa5cca');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795742601005');

insert into schema_migrations values ('2', '0002-lists.sql', '1795742601030');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795742601038');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795742601041');

insert into schema_migrations values ('5', '0005-administration.sql', '1795742601048');

insert into schema_migrations values ('6', '0006-usage.sql', '1795742601070');

insert into token_keys values ('42c9b04e', '1795742601815');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '42c9b04e', '1FOw3O26dJV7paEBn2QwpTyI_KvtZplbt262LlFXWfD4Tom4TFdNWpBR_tymVK7Bhs73hes', NULL, NULL, '1795742602278', '1795742602278', NULL, NULL);

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'V1kSaCvp805MpLF7854dOAO9ckKYlxksgT-MUby9My4', '42c9b04e', 'Txkl50vQoQcpJtykA-KlrLtKkfgr1Ny4yyA5TrLHRrSabBnnWsYyTzYSYDeRPc9XhFefhE7ng8gWDftNGhhajxY1x4I93W1wUYPDqZLazak77Ofe', NULL, NULL, '1795742607025', '1795742607025', NULL, NULL);

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'QfG8sqV5fIxp9ZPevOlumKwwLjF2cwtHbmsCsT6m8uc', '42c9b04e', 'MIKP5GlFHSNaqTI69aFQkDmmCB2EgpTt2Zo0U4x_YEfIirZYC5JivTImLLJkAbwHBYGx3RFItsMSgrw5u0DTtQhmVNZhsvhXs0jxlkPAXimmlbqC', 'osApzoouMr12AHZZtWBWJexdkmKO7es_pcuvC4JZ4Q4', '1795746207066', '1795742606998', '1795742607066', NULL, NULL);

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'zcb2OIGFRA1g56xe5taxAcaqZz25qYwSlM9sEVbkIs4', '42c9b04e', '8xSRS0ZRdsROvuT80jFmBmQLz6MpQfidGhGf72plr0FjA2cFF16IO6ojWNJQc87peMsdUjkr7vRu8jAu1hMslBOlg0zE-QABz6HIkzNaCv48undK', NULL, NULL, '1795742607018', '1795742607076', NULL, NULL);

insert into user_groups values ('6364', '1', 'Customer', 'suspended', '2004', 'Suspended', NULL, '{"id":"suspended"}', '2', 'VOCIlA2vKIr67XWWvkcx4tIxHldc9pHCYbDo_xiM0l8', '42c9b04e', '-ldKzMgo09X2t4T7mkEKHfYbrcJTYrxc1gMZse7b9yBUU841hx8JJgCKXyA4FJ4O8wGW6B9bGWePozz6IbSI9fetc_qsX6lkiibKVpjsvnShjgCL', NULL, NULL, '1795742607091', '1795742607099', '1795742607099', NULL);

insert into workspaces values ('1', 'default', '1795742601109');
