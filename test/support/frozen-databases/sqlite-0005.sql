-- {"tokenKeys":"c10e87c3:pTMX3iHsx6XFtF7RzESgNHgEp0Nw2T7-87mhFcsfw7k","apiToken":"uga_yneIwmluDBMtsRzUD4efjHzSyLIqXaC5ARcQzSxtomj2fn8Y7","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YgpCr2KmIZBjtQkfhqmfVauAVDjKLAKyXrGFYJqLgTmx2Ju0xB"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iymM4d1gCIWdIfGNeSEx8CfJRmlEPj5r4I0GBh1svlnqY2fBiXT"},{"provided_id":"updated","name":"Updated","token":"ugt_26PTWx8z85SXYWTI11Wb8JIvjs7CFYmPlDL3H8HEHU0vMT28HUlx"}],"administration":{"apiToken":"uga_nkSg4KjBCtxyDpsGbXY9oR8p3ebqmDaBwM9u81jxnIi0UAigz","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eeOaJOMgcnH7j9JKUJtFqzYuXdZ36FvJTOY2HTepJ0ue31fEuDu"}}

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

CREATE INDEX api_tokens_expires_at on api_tokens (workspace_id, environment, expires_at) where revoked_at is null;

CREATE INDEX api_tokens_previous_digest on api_tokens (previous_digest) where previous_digest is not null;

CREATE INDEX api_tokens_revoked on api_tokens (workspace_id, environment, api_token_id) where revoked_at is not null;

CREATE INDEX api_tokens_unrevoked on api_tokens (workspace_id, environment, api_token_id) where revoked_at is null;

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

CREATE INDEX deliveries_failed on deliveries (workspace_id, environment, endpoint_id, event_id) where state = 'failed';

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

CREATE TABLE environment_figures (
  workspace_id integer not null,
  environment text not null,
  counting_until integer not null,
  counted_at integer,
  figures text,
  primary key (workspace_id, environment)
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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'JJFwLebcfNolmHx3RZhnQBGRQjdu06HS-cprL0bkBHY', 1795837702021, NULL, NULL, NULL, NULL, 1795834800000);

insert into api_tokens values (2, 1, 'Customer', 'admin', NULL, 'Qx8m2fX_uppTq05rsJtSpQPrLQUxDfJ6E6uy2amssw0', 1795837704934, NULL, NULL, NULL, NULL, 1795834800000);

insert into documents values (1, 'Customer', 'data_source', 'shared', 1, '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, 1795837717767, 1795837717767);

insert into documents values (1, 'Customer', 'integration', 'metabase', 1, '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', 'c10e87c3', 'Dhq-26luSq1pX1srrO5XplvXJtJAdWgIoP92jFEIvut9KSCrUnJeFRW3FvA8Lnby6ktC8zvasJLSKhDZ', 1795837717767, 1795837717767);

insert into documents values (1, 'Customer', 'mapping_policy', 'default', 1, '{"mode":"report"}', NULL, NULL, 1795837717767, 1795837717767);

insert into documents values (1, 'Customer', 'property_schema', 'default', 1, '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, 1795837717767, 1795837717767);

insert into documents values (1, 'Customer', 'schema', 'orders', 1, '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, 1795837717767, 1795837717767);

insert into documents values (1, 'Customer', 'webhook_endpoint', 'crm', 1, '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', 'c10e87c3', 'KLkOGAmH8CQbnfQDtJjMUT74J6op-ocKyA3W_2n_WduWR5FMBD-_qoKQMId8mzlkJEf9SXmsssFWvxg16WieappOpWVuNRL0LNGjunt3', 1795837717767, 1795837717767);

insert into environments values (1, 'Customer', 1);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a22044af8600006a135defa39c4169', 'api_token.created', 1795837702022, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a22044b7d800003a21b69b3663a343', 'user_group.created', 1795837704152, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 9591, 1, 'Customer', 'api_token', '2', 'evt_01a22044baea00007a59be9efafed9a9', 'api_token.created', 1795837704938, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values (4, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a22044e678000057f4f14adc21d2f9', 'user_group.created', 1795837716088, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'g-i9tZ2i-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (5, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a22044e6f400003c3bd9ae93e12467', 'user_group.created', 1795837716212, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'g-i9tZ2i-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (6, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a22044e70b0000741c6100016b0273', 'user_group.created', 1795837716235, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'g-i9tZ2i-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (7, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a22044e724000049bf3dcffdb923d6', 'user_group.token_rotated', 1795837716260, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'g-i9tZ2i-5', 2, NULL);

insert into events values (8, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a22044e73f000091b9a74e17bbf104', 'user_group.updated', 1795837716287, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'g-i9tZ2i-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values (9, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a22044e74e00007bd87e2273a210d0', 'user_group.created', 1795837716302, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-7', 1, '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values (10, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a22044e7f400001fa7f09fbfb28ce5', 'user_group.updated', 1795837716468, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-8', 2, '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values (11, 14325, 1, 'Customer', 'schema', 'orders', 'evt_01a22044ed080000b50d1c198289a2a0', 'schema.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values (12, 7161, 1, 'Customer', 'data_source', 'shared', 'evt_01a22044ed0800013f3cef9e027b9f9f', 'data_source.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values (13, 8554, 1, 'Customer', 'mapping_policy', 'default', 'evt_01a22044ed080002009646129d7b8e9b', 'mapping_policy.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"mode":"report"}}');

insert into events values (14, 8554, 1, 'Customer', 'property_schema', 'default', 'evt_01a22044ed080003b232b55bc7feaede', 'property_schema.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values (15, 3891, 1, 'Customer', 'integration', 'metabase', 'evt_01a22044ed08000471d0743a43daf81b', 'integration.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values (16, 16079, 1, 'Customer', 'webhook_endpoint', 'crm', 'evt_01a22044ed080005658a9c2ee48c2a6f', 'webhook_endpoint.created', 1795837717768, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'g-i9tZ2i-9', 1, '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 3);

insert into id_blocks values ('data_source_id', 2);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795837701765);

insert into schema_migrations values (2, '0002-lists.sql', 1795837701775);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795837701783);

insert into schema_migrations values (4, '0004-administration.sql', 1795837701787);

insert into schema_migrations values (5, '0005-usage.sql', 1795837701800);

insert into sqlite_sequence values ('events', 16);

insert into token_keys values ('c10e87c3', 1795837703294);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'c10e87c3', 'b3SY-arM9c5GtrHyBDML6qFcM5RKwraHLhQkyfemH9quK4XIBrj8_R9IVZ_pfuFW3ZemPdQ', NULL, NULL, 1795837704152, 1795837704152, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'DnyXMEKKkSoLNrDU6P5vbCIyyyVVzd856ZA8UUSmag4', 'c10e87c3', 'SZqG8UH4ovXAvZ0GWots1eGnOLwjvJaaoBthmtrHyzTHvxPM5kC1DIky9dy7BHBxa5nsBCZ2q2N-6rvV82Bj8ZdJ6nRM1TvWjB_KiYTIemgtU16z', 'CB9ouLVvhO_MJQXI3kkOHg5foxQqK8xGnTiVH_yiSL8', 1795841316259, 1795837716087, 1795837716259, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'z5lhuLnG90fnjDL7kjyHQG8jI6Ud0USSO4mfkbxp9GY', 'c10e87c3', 'N94sPmzRkiL2No4YR4zFLdA45A9emEyz_XTpilv8w7Re2SF0WukkZsj7I078R9a-6wnWKccOc2MYm6IcBUwtAYCM2xCQXZlUhn3DikLYbFXgrFuH', NULL, NULL, 1795837716212, 1795837716287, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'OZ4wFNe-4oTvhdkTZiiub5bLhSuWFmdeAr5NFugLXD0', 'c10e87c3', 'O9DYS69jRNV4x4JUJahbAMOZeia_NwUo5BvPRc6oAkDFVwovq2RCQu_UxLRSH9iGiglNWO81upyiNmFKnHwvv01KNxQTv3n4lDpmz0GpcDKiFM35', NULL, NULL, 1795837716235, 1795837716235, NULL, NULL);

insert into user_groups values (6364, 1, 'Customer', 'suspended', 2004, 'Suspended', NULL, '{"id":"suspended"}', 2, '_WRJVAca7lrTRu3t0V6xKrEgTcO4NcOCOhYdjLjKrtI', 'c10e87c3', 'ueMAFm_M6-Ov95Mdqf0J981OKFU2xECE0CZJTT-AUPLyFoRVWPMdqteytEKymECvKXMZBx2ENoiU3Y_zOseT-yFFi9rUQXriAzZ9tdEAPP0yBxAy', NULL, NULL, 1795837716302, 1795837716468, 1795837716468, NULL);

insert into workspaces values (1, 'default', 1795837701917);
