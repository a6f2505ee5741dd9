-- {"tokenKeys":"fcfed48e:39zZuD4rHSiwSMvb9Ly7EHEMtDWNHLtTDsmB7A5qqJI","apiToken":"uga_oxTrnqhjyEs6In87SiWHHsNXvaVnCBdYPsNUZ24MYQg0MGsCf","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YT7bFuV1Q5VBCFiZW7DCZ8XBzbe3WfFFjpBHfOUTX4DA3H04LL"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iy5AGAanXNAVWaMaoIY0rMIcNdURU3eL84jZuopF5meLI0RE4XL"},{"provided_id":"updated","name":"Updated","token":"ugt_26PsDNXur4LyvIC8wJX4qjYikScIC18fHajgBU3Pq0gf5w3GgQXY"}]}

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
) strict;

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
  updated_at integer not null,
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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'qze2q0F8Jo5ZPyUep9yki3xn4VrvxTg_nCYbOfFJjg0', 1795415751403, NULL, NULL);

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795415751396);

insert into schema_migrations values (2, '0002-lists.sql', 1795415751397);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795415751398);

insert into token_keys values ('fcfed48e', 1795415751599);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'fcfed48e', 'icVIw2-wQIBzy1x0dTsQjm4gBUHRg981IqW2Vo4JEZFI6wsugXN9_s4on4YvdxI0ktaWtQM', NULL, NULL, 1795415751741, 1795415751741);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, '6oLqGl1HQmVTML4QWodiRFzIXPZvmhmWz3NHysbURAs', 'fcfed48e', 'chrm3MVssPlX27oGk4XUpsGp_IGJ_KN0KMV_GsTtombGUUoKamt6KmPowKoFfxf-D14f0PN0GnlXlqQq27H72V8TN5oIybU_nB7SWGFervWQkORY', 'ISSDe0UIqtfeYbVV0qcvxZ1cZZu6yBxF0X2hpYJS364', 1795419352284, 1795415752266, 1795415752284);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'qWQEX21cHCNpO8i3wz1_zhjRuHXvmIqVew4QR5oAj9s', 'fcfed48e', 'Zf7KL4av6wpYjUUE0PsToWwRUpCvyKN_dpXoVyIY__65VTXTi6bNt1Q-PpPTA9EaS7RigFbY8B_MjFQaLAo6jhyV9OTiAOeBWFy9pRCAPiMNHOkJ', NULL, NULL, 1795415752274, 1795415752287);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'obq4331jCunB9jH5aj3BY-BFy8YtQejbTbk5UewWyzI', 'fcfed48e', 'SD-k8nLBQyMstfKepzISKWX2_uVpbvlhAcxpZ8cKAY0v3RVkrwj5lyw5Srto-tpo9cO51GbQsGXp3reZfK4H-ZyvY5bcX0sSvNjtFjz2Vk47lUlm', NULL, NULL, 1795415752278, 1795415752278);

insert into workspaces values (1, 'default', 1795415751403);
