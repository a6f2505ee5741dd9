-- {"tokenKeys":"86f13216:g_LVQ9GIX6yN84mGDnR5VSKzIzTkJp4Hz6oNgmdKd4U","apiToken":"uga_tRyvM6HFwja1HpBm01qMXjBzAiHCgJkmgsbaqHtcUGF10AdPy","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YSUq6NFA0Txi4rIfvqSwp9W2YVZf6O8Jig9Cw8M14FxO2G9TzO"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iywf3HLv3NrDhR3U9UUdusPtyg0Te8hEkchg13KSAA6ua3hFqXI"},{"provided_id":"updated","name":"Updated","token":"ugt_26PkJ8MQMZO0llpBWFWmd8ZxOQUeuyHhxSlLHuwKAc9fYV0x5C56"}],"administration":{"apiToken":"uga_T15rgUzWtIVze0fc9PgrrbzCvsFFDCrbXwXohBLhhkU1lfN8t","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eeZcCOOXT7TiMW5cRhWCiXdthhNVerWpNo28KOQUDD9mw1sYgQR"}}

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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, '0PsNNHKSTVbWDmA-Zu4IT3pVRJb8YAT2JPwZqIsKkm0', 1795582636245, NULL, NULL, NULL, NULL, 1795579200000);

insert into api_tokens values (2, 1, 'Customer', 'admin', NULL, '_e3RclMZGNjLG4ZwTU9f62jVHZWWDFPyrQU9o0dSJe0', 1795582638419, NULL, NULL, NULL, NULL, 1795579200000);

insert into documents values (1, 'Customer', 'data_source', 'shared', 1, '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, 1795582643940, 1795582643940);

insert into documents values (1, 'Customer', 'integration', 'metabase', 1, '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', '86f13216', 'kGEncmME7PfXPUBEY2fKsvFvXw3Z58F4uDrQG9YKb1PbrT3GCqlfCPcK_21Rr1_GlWlhn2bcCrEKhksi', 1795582643940, 1795582643940);

insert into documents values (1, 'Customer', 'mapping_policy', 'default', 1, '{"mode":"report"}', NULL, NULL, 1795582643940, 1795582643940);

insert into documents values (1, 'Customer', 'property_schema', 'default', 1, '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, 1795582643940, 1795582643940);

insert into documents values (1, 'Customer', 'schema', 'orders', 1, '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, 1795582643940, 1795582643940);

insert into documents values (1, 'Customer', 'webhook_endpoint', 'crm', 1, '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', '86f13216', 'Amjl9rcLNSqEg47lDAxwkPuwPuY2N5QzlVWnFTC8dzm_2JAdin3lmYL-GtEoLfEJgj0srzQhfqWx3f5XC8qq1vqIl6x0Z3A2gP2ZCNN7', 1795582643940, 1795582643940);

insert into environments values (1, 'Customer', 1);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a21110b0d60000ca079e039162645a', 'api_token.created', 1795582636246, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a21110b5c10000d5d089620a5f3ca7', 'user_group.created', 1795582637505, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 9591, 1, 'Customer', 'api_token', '2', 'evt_01a21110b9540000125fda7662f87609', 'api_token.created', 1795582638420, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values (4, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21110cbcb000086938a4a1885078f', 'user_group.created', 1795582643147, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B1Kk24wh-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (5, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21110cbee000006aab9512c52a3f8', 'user_group.created', 1795582643182, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B1Kk24wh-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (6, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a21110cbf900001a343462fc6f5484', 'user_group.created', 1795582643193, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B1Kk24wh-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (7, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21110cc0b0000d0b49156a23a7d88', 'user_group.token_rotated', 1795582643211, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B1Kk24wh-5', 2, NULL);

insert into events values (8, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21110cc170000049b61ac06833c63', 'user_group.updated', 1795582643223, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'B1Kk24wh-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values (9, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a21110cc2b0000e71ae344a1cb12d2', 'user_group.created', 1795582643243, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-7', 1, '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values (10, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a21110cc33000097c03df891fb858e', 'user_group.updated', 1795582643251, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-8', 2, '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values (11, 14325, 1, 'Customer', 'schema', 'orders', 'evt_01a21110cee400002efcd24864879794', 'schema.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values (12, 7161, 1, 'Customer', 'data_source', 'shared', 'evt_01a21110cee40001b15920fcc7cb8ba6', 'data_source.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values (13, 8554, 1, 'Customer', 'mapping_policy', 'default', 'evt_01a21110cee40002515cf9d82117814a', 'mapping_policy.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"mode":"report"}}');

insert into events values (14, 8554, 1, 'Customer', 'property_schema', 'default', 'evt_01a21110cee4000338e7e0f06197acc8', 'property_schema.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values (15, 3891, 1, 'Customer', 'integration', 'metabase', 'evt_01a21110cee400045b3f3561682a01d4', 'integration.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values (16, 16079, 1, 'Customer', 'webhook_endpoint', 'crm', 'evt_01a21110cee400052f1d0ccd05b6cb32', 'webhook_endpoint.created', 1795582643940, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'B1Kk24wh-9', 1, '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 3);

insert into id_blocks values ('data_source_id', 2);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795582636162);

insert into schema_migrations values (2, '0002-lists.sql', 1795582636173);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795582636185);

insert into schema_migrations values (4, '0004-administration.sql', 1795582636189);

insert into schema_migrations values (5, '0005-usage.sql', 1795582636201);

insert into sqlite_sequence values ('events', 16);

insert into token_keys values ('86f13216', 1795582637420);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '86f13216', 'xj5FMa-7aJhwYBj05-ssd62H36JoAz-Zb_wdFLvcHgLmggH0IVrP9gtrpyVk1oN0WJsya4M', NULL, NULL, 1795582637505, 1795582637505, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, '8jmODnXmtatGUorHUMSjtZkE35yN90ma4iKWOv002dY', '86f13216', 'Kwz3pi4rO21796b9HLdk0teZkuEkRKEVbnndB0BoCxFCHjVaDe9QFhyRJwt3_Z_0_TEZ-n9EIYgIFdYWesRQCVHeafVVjlyewNmsu_s6XoPlriGJ', 'EWVQhms9gSIW9Y9OfmLRMViW3_w1IYX3L21bnKONSUs', 1795586243211, 1795582643147, 1795582643211, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'cE5MDnP5ReFBdoevBBiA_ELT6z-HLxsLMCKsNp08ESc', '86f13216', 'q9dpdl3UMGNSDzZh7_AfbZOwPzDSFhGZH0CLR5wrSlSPXvADfgF1pn8Sxd3A0MdHoRUxpICJsESOZfhsgktBgYdBpjq1zXUTYA5Hzud4HX6N4stm', NULL, NULL, 1795582643182, 1795582643223, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'BM6LBi3s8F6oKmqfqe6xHmucFvw4TmxOMBZeURKLgOQ', '86f13216', 'nGEAwNFXAhzCvJwszCqXTI9RzI15AOX60m1qp6-Fk2zMkPZkUco4MgnwUcxqbYBDrhvCgQ3F4jhzWKTQThkRghp5hqDtYLwgCkHmgm19F-srhEYE', NULL, NULL, 1795582643193, 1795582643193, NULL, NULL);

insert into user_groups values (6364, 1, 'Customer', 'suspended', 2004, 'Suspended', NULL, '{"id":"suspended"}', 2, 'P-AWOJG0bXnnIK3prQS-K2gNBNSn8kLjXSyzbaAVdUc', '86f13216', '-9lwIL8LnKbQJk34Fpl5bJa1M53Jhrh7N72OgC2soWObQ1_4yt562GQSFQmIFb1XjL7RRKOyRvsBXsiJ5VpUzPfWVDkVBxwraTGvttze1ubARotk', NULL, NULL, 1795582643243, 1795582643251, 1795582643251, NULL);

insert into workspaces values (1, 'default', 1795582636218);
