-- {"tokenKeys":"34007355:2JqLtrO1YFfwD_2RJvYPa1Tz8rxNFZXgHi6Dk3us3Yk","apiToken":"uga_n1VJGtnPGPL8uneNqxHXHYG9bn2MKinWYIFd4X0cncy3EJ7j8","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Ya1uccozXuK3uKOunsSDr2pcUdyhBq7UrB1uUEH94ra8299CUX"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iy7EYQ0vjBjMPPhvWLsooinc7TutK3e6VlkUZNExiEfuV4J9OJs"},{"provided_id":"updated","name":"Updated","token":"ugt_26P47C3kD9dIN4weuSD5iZyZ4GJjr3fiys6Rb7CzGG6XcK4QQg2X"}]}

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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'dzbTMF3d1I56FMW6jGdURHmRQr9vY07WUnfENkgvb8w', 1795581587753, NULL, NULL, NULL, NULL, 1795579200000);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a21100b1290000cb959c42a8029695', 'api_token.created', 1795581587753, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a21100b7b0000093505f4b4f8d7676', 'user_group.created', 1795581589424, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21100c40600008496d7038d095622', 'user_group.created', 1795581592582, '{"type":"api_token","id":1,"name":null,"via":"api"}', '67Eddo4N-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (4, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21100c43200003ed0d5808a148d98', 'user_group.created', 1795581592626, '{"type":"api_token","id":1,"name":null,"via":"api"}', '67Eddo4N-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (5, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a21100c43f0000987ddb09846a836a', 'user_group.created', 1795581592639, '{"type":"api_token","id":1,"name":null,"via":"api"}', '67Eddo4N-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (6, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21100c4480000520271876a939244', 'user_group.token_rotated', 1795581592648, '{"type":"api_token","id":1,"name":null,"via":"api"}', '67Eddo4N-5', 2, NULL);

insert into events values (7, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21100c45c0000658252daa4fb2781', 'user_group.updated', 1795581592668, '{"type":"api_token","id":1,"name":null,"via":"api"}', '67Eddo4N-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into id_blocks values ('data_source_id', 1);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795581587680);

insert into schema_migrations values (2, '0002-lists.sql', 1795581587687);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795581587697);

insert into schema_migrations values (4, '0004-administration.sql', 1795581587701);

insert into schema_migrations values (5, '0005-usage.sql', 1795581587710);

insert into sqlite_sequence values ('events', 7);

insert into token_keys values ('34007355', 1795581589248);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '34007355', '1wUBA0AvsCUxJNpxaiZsTCO781yyk0_KXepkVkZIMGNn_xH7G6ZZ3-rtecQ_vpHew5k-j0w', NULL, NULL, 1795581589424, 1795581589424, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'Q590X2jfIAaTPIRiHIPjTzFbjFHeSScxy-LlDwqSPz8', '34007355', 'oTHShrAq_gOjo_WKwhAJHoHFLq_SFv_xzvgEPbiRw3YZSjVPmofDP2hc3uNVuxmn_PcAdQJVjZuv_SmEZOhMVss7oYvFUMoRZrhaO2aZM_e5gH6X', 'ICTooWovc2L8JpEprhnOkp6dIVpCgD_FGj2qd0w_FL8', 1795585192648, 1795581592582, 1795581592648, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'D6jG5p6OKT4mG9pkGFi-WNxOBrO3sFcW7bYLZj1oVUA', '34007355', 'yaoQE9Jd5Cjsy4XDOXmz-IR3ko23wzK7Ad3qDNKV8cEedEZPlh5k0rKO25WVSM4FfndCRBzd74CbHiv5D3fsrYlwJwx39HrPBVOxj9d4TYBR5BAZ', NULL, NULL, 1795581592626, 1795581592668, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'QO8MzFmbhA6qxoTUvrcfSzWHLtaXAUaJEgAy_DwbNgM', '34007355', 'm5kfMYp3UrIVCKF2M_KMbRG15ND3_560pKsY4o-D3XLeWhGMylig0dS_FEZZNF00EctavJJds2XDis8AbqpV03NTdzmGT-MVLVv5mzuM8ijSRNfp', NULL, NULL, 1795581592639, 1795581592639, NULL, NULL);

insert into workspaces values (1, 'default', 1795581587727);
