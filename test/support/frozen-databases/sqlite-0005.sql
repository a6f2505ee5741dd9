-- {"tokenKeys":"f517caa8:H263GbdChFtTxkLNtptHZ_oWHPgS3tROIMjX-ksF-HQ","apiToken":"uga_qjf2gjBRS28w6ovOI80HpW40WrYkQ7s39OdMXduiDxp3TbYLi","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YYOM3i5Wd72cwOAqSvkEsHesjDFFBCpzICQHq2LRp3f02ZL6qm"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyQooPpi04enuuJ7qwyfAKnyPzcYGo1nYQvb3TfpbCixP3DeqE5"},{"provided_id":"updated","name":"Updated","token":"ugt_26PumMSE8Dk1hgLKTQNPLSph6HlmwDChXGtoqGn4nzCDG63RFMky"}],"administration":{"apiToken":"uga_HF4ANWjL1KXlnRCmT4Y5eBfpr2jZxWIUc2TzaINvCLJ49pHMG","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eezfCY6JAgaj6MFAdygP5vM3UFKg2NHffrkoh8cjhzpXQ2ka4Xx"}}

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
  created_at integer not null, attempt_log text,
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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'Fhy1xVd0ttsLJZViVSBGEvOx2upo-hxYxhwax3wx8eg', 1795582027798, NULL, NULL, NULL, NULL, 1795579200000);

insert into api_tokens values (2, 1, 'Customer', 'admin', NULL, 'uTD-Jipl369Q8Uxit_EFluCptOYodDxWNVlzBwR7LbQ', 1795582029885, NULL, NULL, NULL, NULL, 1795579200000);

insert into documents values (1, 'Customer', 'data_source', 'shared', 1, '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, 1795582033353, 1795582033353);

insert into documents values (1, 'Customer', 'integration', 'metabase', 1, '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', 'f517caa8', 'OhwRHF4qNadWzF-uwW5JbDnQk2LaHG5v0t1bEH1vbplg3kzTyZsApEXyJFKO48YedCSJbEhp2aFa0fts', 1795582033353, 1795582033353);

insert into documents values (1, 'Customer', 'mapping_policy', 'default', 1, '{"mode":"report"}', NULL, NULL, 1795582033353, 1795582033353);

insert into documents values (1, 'Customer', 'property_schema', 'default', 1, '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, 1795582033353, 1795582033353);

insert into documents values (1, 'Customer', 'schema', 'orders', 1, '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, 1795582033353, 1795582033353);

insert into documents values (1, 'Customer', 'webhook_endpoint', 'crm', 1, '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', 'f517caa8', '5V2GvG7a2Pcp1QM5g-_jrWqV5cTJ32Zh1H18U7GtRXUN1t_qouqJ2UouFoEsvnbNq37R-MpYAxCMpQuU7IivVqDgd7wF4ATJbEP3iPHp', 1795582033353, 1795582033353);

insert into environments values (1, 'Customer', 1);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a21107681600003a554a789d33ee58', 'api_token.created', 1795582027798, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a211076cd60000a5b00ad3697f6434', 'user_group.created', 1795582029014, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 9591, 1, 'Customer', 'api_token', '2', 'evt_01a21107703e000082d18bfd313b7296', 'api_token.created', 1795582029886, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values (4, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a211077c270000a169f9e66a882b36', 'user_group.created', 1795582032935, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'LehnoVNK-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (5, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a211077c570000797fc02dfd5a28d8', 'user_group.created', 1795582032983, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'LehnoVNK-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (6, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a211077c86000047feb53d32d7aa39', 'user_group.created', 1795582033030, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'LehnoVNK-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (7, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a211077cbd0000a9501b9c9be7b0bf', 'user_group.token_rotated', 1795582033085, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'LehnoVNK-5', 2, NULL);

insert into events values (8, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a211077cc900003235fc5812e5ba5e', 'user_group.updated', 1795582033097, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'LehnoVNK-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values (9, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a211077ce100006d5e161f8da7b525', 'user_group.created', 1795582033121, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-7', 1, '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values (10, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a211077d080000aebee8234209b793', 'user_group.updated', 1795582033160, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-8', 2, '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values (11, 14325, 1, 'Customer', 'schema', 'orders', 'evt_01a211077dc900003e3414a8578451b9', 'schema.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values (12, 7161, 1, 'Customer', 'data_source', 'shared', 'evt_01a211077dc9000106b38cf9e830c85e', 'data_source.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values (13, 8554, 1, 'Customer', 'mapping_policy', 'default', 'evt_01a211077dc900022f3727c2d18de708', 'mapping_policy.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"mode":"report"}}');

insert into events values (14, 8554, 1, 'Customer', 'property_schema', 'default', 'evt_01a211077dc90003f810772ecf114c56', 'property_schema.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values (15, 3891, 1, 'Customer', 'integration', 'metabase', 'evt_01a211077dc900041ef806cdb69b402d', 'integration.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values (16, 16079, 1, 'Customer', 'webhook_endpoint', 'crm', 'evt_01a211077dc9000580598facb9660c27', 'webhook_endpoint.created', 1795582033353, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'LehnoVNK-9', 1, '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 3);

insert into id_blocks values ('data_source_id', 2);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795582027723);

insert into schema_migrations values (2, '0002-lists.sql', 1795582027725);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795582027727);

insert into schema_migrations values (4, '0004-administration.sql', 1795582027732);

insert into schema_migrations values (5, '0005-usage.sql', 1795582027743);

insert into sqlite_sequence values ('events', 16);

insert into token_keys values ('f517caa8', 1795582028951);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'f517caa8', 'kvqkQbrwyLdjgrtJrIQKnFWaEQIc_6-lQ9DSgD83WLnthDUdvyeMVr5SVPf7ofsr4YIhO-Y', NULL, NULL, 1795582029014, 1795582029014, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, '2kR3BFHKIPBWG5Sg0h88hxzzFX-SyX0aVGsiubxBnsY', 'f517caa8', 'w_QDJOg3vlBb82kbwrRCjL1FVppCXXzzg9-iW_s1lq0y_dyOitGtqEPYOeGquM1KyLs_ye4cDDIKaGq0SD5DvzUf3BioxqqFmlnDheZAWJw7gXF0', '3dr6svT-ec6AjEKjrejnvr_iv-gscKtVKMIU15Hk2PE', 1795585633084, 1795582032935, 1795582033084, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'gum5YPjvxloN91y_hh3txERwqtJHN-QPZwz7tdMme9w', 'f517caa8', 'uk8P4QGOgm6uYEX-cWvm0qCX5L_ZwGN197Onaf9wJBC25wsSaPQ5SjfidoUL2gkMSc3ZFStiW-RvXS42edi2VggUHLDGL_pW17nNx8KqE9VjfK-7', NULL, NULL, 1795582032983, 1795582033097, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'LT5ZNINQmFG8s4D6VMrJ46E3tb-q-HiJ42IKlCq0-Sg', 'f517caa8', 'VyusrbfrlXk6TuyFNss7ytmc7Cwrn2sCxLi1EhcfOaRtsZKE9Zgh2X2di6_H2GdG7fR58mRpf-9Lz0HI-DeuFI6P8zlAljBAPE0W7OKnNmxW_sZK', NULL, NULL, 1795582033030, 1795582033030, NULL, NULL);

insert into user_groups values (6364, 1, 'Customer', 'suspended', 2004, 'Suspended', NULL, '{"id":"suspended"}', 2, 'GBXSGqcqhlV7LN3d2vIPS4eKVoZCn6yDTChfW1ZHdKo', 'f517caa8', '3UEA61GK0Kd96r04G47K_187HJnavEWDRop_hvypAd6ZwEwXUrnpSCTr6Fr9rdmeblONY5bXL1jdXFV9v82lls6UwW9WqUBe7q1LWdezIlhBi2eb', NULL, NULL, 1795582033121, 1795582033160, 1795582033160, NULL);

insert into workspaces values (1, 'default', 1795582027760);
