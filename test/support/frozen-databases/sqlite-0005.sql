-- {"tokenKeys":"25ee084c:nVybgYq1korRgYVXuVU_VaT3_8c4gRrizrhAv1WXPFc","apiToken":"uga_xNNkM8AbkCHavwk7VbYnG2bRwHlNJRGX1HX9rvNgLnU3GvxRR","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YNIqe5MUtN8JMz1yYJpx2mF2qkJQc8RkkT1O64EP3Obu0fnuBu"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iya7KtdYpjJt3ZSLAFOsIOyzS8lXjTMGGmQsoL8mnpgUN14mHUl"},{"provided_id":"updated","name":"Updated","token":"ugt_26P7kv6BQg0LxhBo8oRR4v72NifGOhwabeA4mcvOr4dB4G2dGunb"}]}

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
  created_at integer not null,
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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'zHUXLM-t1MrH1C3A-paCdcjIzqZiITQxKrrvI_3t3eg', 1795528083678, NULL, NULL, NULL, NULL, 1795525200000);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a20dd048df00005ee8e3040859a0a4', 'api_token.created', 1795528083679, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a20dd04b6700001c130d9915b4de14', 'user_group.created', 1795528084327, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a20dd053fd0000aa7ecea767246c2b', 'user_group.created', 1795528086525, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'b2eY6qrr-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (4, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a20dd0541a0000197a32a1a79f3d96', 'user_group.created', 1795528086554, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'b2eY6qrr-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (5, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a20dd05423000094c13528f1994598', 'user_group.created', 1795528086563, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'b2eY6qrr-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (6, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a20dd054330000f92c8528aeaf4b8d', 'user_group.token_rotated', 1795528086579, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'b2eY6qrr-5', 2, NULL);

insert into events values (7, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a20dd0543a000045e2b4d71dbe3f0e', 'user_group.updated', 1795528086586, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'b2eY6qrr-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into id_blocks values ('data_source_id', 1);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795528083663);

insert into schema_migrations values (2, '0002-lists.sql', 1795528083667);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795528083669);

insert into schema_migrations values (4, '0004-administration.sql', 1795528083669);

insert into schema_migrations values (5, '0005-usage.sql', 1795528083671);

insert into sqlite_sequence values ('events', 7);

insert into token_keys values ('25ee084c', 1795528084292);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '25ee084c', 'j2uyM341izc9a_KhlpthhHEauAzj56SAEA-V0bId7zKbI38FrqjS8aYDZjdiadb1EVX8Yfw', NULL, NULL, 1795528084327, 1795528084327, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, '7u4UhuDtek4YnBZcXalixovvwQfeygjH1_-BKnuOhN8', '25ee084c', '6P4ZphvFfcI6uCF35DGOmVUf5XxlbTkB968wsYUc1Ng-Pd3sJ-vQkr0ypMGIsUE7Hfvu-yMkSBaBU-zTtDo0PmfrTVEcVXrnjGBxGVbuukK1hv8Z', 'tmL-jDFyPFvlFbl6siAqv635BQtfJFHwvRJeuWOJQbs', 1795531686579, 1795528086525, 1795528086579, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'UVVuerLL5i0yKDmdpRWVL5bMJ2JfcatwtzCIAimu3pI', '25ee084c', 'tV5fZmivV2WBgh54KPyXTzu_IlkM4QHPyJrn4-T4GRDXcXo-pUbzGCtFFUwYweCW7-YDTQ2tF6p5OfbANMSumHT-9iNaiI-JWm_un8RWp6Y-x7bc', NULL, NULL, 1795528086554, 1795528086586, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'MAbNnghcgIAybM63noNtk4BsZBMmhOCKqkCTEEWuFBM', '25ee084c', 'XgXoIMGEhx1ciAKqx_2-uFVN37WdK6uwPowA8j2mrvTEdZD__6ETYmULsVDhuspz9upGK34jAN7Sb9_odZeg1No3GRF-b5zLx3aiXGmKrAVB6rR4', NULL, NULL, 1795528086563, 1795528086563, NULL, NULL);

insert into workspaces values (1, 'default', 1795528083674);
