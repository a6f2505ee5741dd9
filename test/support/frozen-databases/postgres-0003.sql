-- {"tokenKeys":"f7a755ae:6KR3fYmtDfhWMrjk_IjQcvzrOCUGiKHzxNLiv1TLsjM","apiToken":"uga_cnh6PhioRMo56CnkdFm9sBTL8VJVZyOSvTeNl3vPRKg4dGo7s","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36Y1H6iwW9n3A4egISeOMjaYyC6MCHP0rbH0AzHRp7Kjg11cRj6V"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyxYVxP8zG7Web4wZ5li2qDlN9yw3RdC3qVigVmFeyREC09V9tX"},{"provided_id":"updated","name":"Updated","token":"ugt_26PuXutRHPOAyiylW3zKbwDHZ3FgvVpluABbItZKZXRP762x0a8O"}]}

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
  constraint api_tokens_digest_key UNIQUE (digest),
  constraint api_tokens_pkey PRIMARY KEY (api_token_id));

create table id_blocks (
  sequence text collate "C" not null,
  next bigint not null,
  constraint id_blocks_pkey PRIMARY KEY (sequence));

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
  constraint user_groups_pkey PRIMARY KEY (bucket, workspace_id, environment, provided_id));

create table workspaces (
  workspace_id bigint not null,
  name text collate "C" not null,
  created_at bigint not null,
  constraint workspaces_name_key UNIQUE (name),
  constraint workspaces_pkey PRIMARY KEY (workspace_id));

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

CREATE INDEX user_groups_workspace_id_environment_name_provided_id ON user_groups USING btree (workspace_id, environment, name, provided_id);

CREATE INDEX user_groups_workspace_id_environment_provided_id ON user_groups USING btree (workspace_id, environment, provided_id);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'AM7EtTVCsS1Yn59hw1ohCGEClLxYqj5k_giyusqsJWE', '1795415747197', NULL, NULL);

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795415747170');

insert into schema_migrations values ('2', '0002-lists.sql', '1795415747186');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795415747190');

insert into token_keys values ('f7a755ae', '1795415747523');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'f7a755ae', 'I0wqeHIQ9jKg2zfCL7hjOjI9Rx2YZzan9fQ83ZKj7RTrX5UZpkotyYHUuhUkgJGl--n4JU4', NULL, NULL, '1795415747534', '1795415747534');

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'OCr2P6q_vk093tasMH09pJgJn2WlHLPuXAzV0h4Rbpk', 'f7a755ae', 'O0GYw54zWCO2UB7b6aB8GTJyZe0xq-VY_UnH-dQWohTg9e7CVbIGMpjmy2Emp38w7kxEkopO9OeadBAUzMc2yRPzjOjStq_fawS0bsoBleaOGokH', NULL, NULL, '1795415747885', '1795415747885');

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'OOat5W0K3zbx5IEppRyb7FHczTKjgyVjFdcml96bfb4', 'f7a755ae', 'f0fPMOF0BuM9sAb4McF26bccG_ij_qt1D8FtcQan-Z7vJ8oUFpso5rRvG0S9UQORI7OFcSVqxOJ_-QWMKPpMgXES0TlowIFv69VLJcGInj0SmSZi', 'KirJ_OQqTy4B9TTONV2duIDu40Mn7J1qEt136sik7eY', '1795419347890', '1795415747865', '1795415747890');

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', '7vZ9mfkHgjapVYGjxwumbadNLyojWIrwm65Sh55uJU8', 'f7a755ae', 'IXWw8ojCKjub1PFL_fXXuFtyvJT-TV8T3d5M9SndUYmFA7VIi4-CYWYXN4ZlkTsOyvk2DEQmiREAC97-bmMufbwwD86OpFG4vPpBXeieOOe5boWi', NULL, NULL, '1795415747883', '1795415747893');

insert into workspaces values ('1', 'default', '1795415747197');
