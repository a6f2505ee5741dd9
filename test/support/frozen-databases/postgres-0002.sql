-- {"tokenKeys":"30a3ad7e:8URvtu_7IwZmAt2HfUP7jGSDOVkkNIGDi591-sMCblE","apiToken":"uga_cZYI4MzDWiVkBXeR8QJMPTjEtLiXbAiGyJngAQRoOn74R6YZn","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YfLyFNdnz6PVDFA6K2K4LnOcJkrcR3BGHBrvgQUt8kAj3rPnCj"},{"provided_id":"imported","name":"Imported","token":"ugt_4ApKdWm97Cexfp6TtY9NyAumtWuiWjw2sGO41CibLrS5Kh1FWLne"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iySDbzblZTPLn09ZcAepWwJ5CNSrbYtRO6tYf98SC2hMw2NDHPi"},{"provided_id":"updated","name":"Updated","token":"ugt_26P5T0NalDwwywFnwNzO8wflpShU61ndNUACYwFv5SizSY2drRcX"}]}

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'PAyH6qVEi0wdr8T6iNBk9Cdxhbh0Gc5DHkD3Ewn_yXU', '1795415742393', NULL, NULL);

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '1001');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795415742363');

insert into schema_migrations values ('2', '0002-lists.sql', '1795415742376');

insert into token_keys values ('30a3ad7e', '1795415742685');

insert into user_groups values ('11938', '1', 'Customer', 'created', '3', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', '15bIXYJEGN6o8ObhKJQH_AeDLV-cjgJMXSdn6MUrCQk', '30a3ad7e', '5UA6UvG1f_SNrGZa3f6sLlMw1dtzYAIVc2xAV6h2NfYIoiUQvVkjj01r36-5BKhqxq0w5uY9X4KAuONDnOCQZLK6p9N1KgIxDd0SxC_DRzR4cv_L', NULL, NULL, '1795415742761', '1795415742761');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '4', 'Imported', '{"main":"db-1"}', '{"id":"imported"}', '1', 'g6ueSYDnGWfFZxqCNuT4fIFsZLX6ZiairaRxqlyOfNI', '30a3ad7e', 'oyVJdp1lMPMtq3scOpas77XV6xnjOA0uNamXKxZqn46fGXB7SOb9jIMNFYNXX2qzLJneVPJ9v27tQNXGorXwNAJnu1qn7aGpjWiAADkxROuSfomV', NULL, NULL, '1795415742765', '1795415742765');

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '1', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'KFC9Y018wmPNmW0P-OaROwyOpAFSg3WUUR6u1w9xySI', '30a3ad7e', '4SVAcPrm1e13hEu5Onmhhp7aP0Ozz2kkRiyQBcdBzs06hwcN9wwsl1hzqLM8YkSUuKar3ZNx6h47RdIJVThLlyROvJ9jSXCo_OUacT3mg_vEyxIZ', 'g0FSiJ5GfyjLz3EAdIFXwa8ceoa15ZtSTgbtS8EUqKE', '1795419342771', '1795415742738', '1795415742771');

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', '0t9_Rd_uXGHsZv2gUr45DM_gDSv6FEHApPCuUOvTnNE', '30a3ad7e', 'u4yVHrsqT7YbxXTZpsHfOFhnGZ_WOiznorgAJgp8-8ae7iP_ieRnm7l2gGYAiQsUhYsQbMwDWeJn97APY5zSireEa7Degi7dZQfj6d_lO9FNmSGX', NULL, NULL, '1795415742756', '1795415742776');

insert into workspaces values ('1', 'default', '1795415742393');
