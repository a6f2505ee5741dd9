-- {"tokenKeys":"f920fa80:mVkC-ywguKu4Xjnxd6BJfmviBwmM2_VVqk5qjLG990Y","apiToken":"uga_QLG0j5pT08jumXVqx8SLoTa0o8tMSEKKw0aFUfCOFBk252FgW","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YYv14OJDTV2juJ7XYoemgh1kqZmjRjeQi0vzMXE8j0rP2nyUzJ"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyFQjjF0heVaM3DmMjQjSC6k23J368Z6x4MMfjBavUSdk1nMEoN"},{"provided_id":"updated","name":"Updated","token":"ugt_26PGQ7yJY2j4BZEXAVurYgXljfPLBxoqHfX3QXd1kY698149W0t2"}]}

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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'hgjEhdiKst92N6Cn2F1AAqedu46CSgTFthFLdJSJprM', 1795415757171, NULL, NULL, NULL, NULL, 1795413600000);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a2071e51740000450a355455ad3d96', 'api_token.created', 1795415757172, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a2071e52b70000aedfe6c6272e53c3', 'user_group.created', 1795415757495, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a2071e557300004822671c80b40d83', 'user_group.created', 1795415758195, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'AjpHeALq-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (4, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a2071e557c0000f4db21aa0cde962b', 'user_group.created', 1795415758204, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'AjpHeALq-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (5, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a2071e558000004de2bf6bca9c380d', 'user_group.created', 1795415758208, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'AjpHeALq-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (6, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a2071e5585000037289145d07d5208', 'user_group.token_rotated', 1795415758213, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'AjpHeALq-5', 2, NULL);

insert into events values (7, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a2071e5588000068b63618fdb79c6e', 'user_group.updated', 1795415758216, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'AjpHeALq-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into id_blocks values ('data_source_id', 1);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795415757159);

insert into schema_migrations values (2, '0002-lists.sql', 1795415757159);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795415757160);

insert into schema_migrations values (4, '0004-administration.sql', 1795415757161);

insert into sqlite_sequence values ('events', 7);

insert into token_keys values ('f920fa80', 1795415757439);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'f920fa80', '6F52zNetLBP6VmbVuKoccJs1WzAnlaia5liYF2_GFze71jrSSm-bbeoUzIOwQ-gtF8fbkf4', NULL, NULL, 1795415757494, 1795415757494, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'z8tbpcOtBCck-1fX0Jzr9p24kM8KlHxK-7JpmYoxMyE', 'f920fa80', 'DkLDiTh4vcuvhieQva9kf_nC1_bc5uTwPZczvfcgy73TZiNVB1mIdh3H_PrW78fENAutKe24oN7aQZIV7ARamrLWwdvMmueBW5Y3Z_999URy7ouE', 'G8rbax9CHTFxoa26n_dWZNaZpfsO5eSeGsidvcg2Yeo', 1795419358213, 1795415758195, 1795415758213, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'xVPD0IpsXLQvuq5TPDtmdJuOW2qtBRWKCxm28TGaJtc', 'f920fa80', 'GE0MPSGMs0NQo5w2CKb-w8aD5NottutFH_j8P4OznKCPqhqhkmMBsyA3Ya56vrOj7kkDoPYP-t154Sexw7oKLjfd4EitmbYjr8C70lILgS1vblok', NULL, NULL, 1795415758204, 1795415758216, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'vQaENBqmvKawYmEsHX5SwAClMeKguzjBOc_Blm-PrSk', 'f920fa80', 'rO8Rzd8YhR-NGLhJDQ7XJp0Xrx6Rviz79Yi9THoiN20SV1Q35a3rPq3q9EfnldkXMOr1QoaQ_Vq47XHTLt3qQofdgBLxPgbLqMGgarmkIiNuBdY0', NULL, NULL, 1795415758208, 1795415758208, NULL, NULL);

insert into workspaces values (1, 'default', 1795415757169);
