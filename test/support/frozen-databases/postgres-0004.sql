-- {"tokenKeys":"d3c64fc6:V19_qrP4g3PAcCL-tvx7gx6LjgB5SFS4pT8fXAbCe-c","apiToken":"uga_KNVpcSZAKqKxZfWckCTJXWzKrvIYSVSDAgSFoyk9p2k0f00Gv","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YfIBYbciLmzSlwTfxNPBbVZlLX1ME1f5kAyzcif3umob1qru51"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyd2Ysp2HLx4msmwq70ykETtzuYbMa1FGi31qKkNTHbqG32mOUl"},{"provided_id":"updated","name":"Updated","token":"ugt_26P23BafX6ZjlUkYir9ldsyOHpihz5Y2s1b21VOwhLwoqP3C8wu3"}]}

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

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'dSPhGLmp59aZ-0N_lL9sD2mK1pTOEWnfZGiIg1PHboA', '1795415753658', NULL, NULL);

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '4001');

insert into id_leases values ('ca40c157-4c21-4a65-b46c-8a8f499d7f78');

insert into id_leases values ('01a043ea-e3eb-41bc-9b54-6f79c19a174b');

insert into id_leases values ('1295c186-bb89-4cf5-aab1-bd98aca12a92');

insert into id_leases values ('f8e5e080-f920-4a33-b4c2-ef65c1d8a8a5');

insert into id_leases values ('32497b05-bb3e-4088-bd97-3478eb3293e8');

insert into id_leases values ('5da199be-b576-4ac7-859c-585b37682af6');

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '16047');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795415753578');

insert into schema_migrations values ('2', '0002-lists.sql', '1795415753609');

insert into schema_migrations values ('3', '0003-imported-tokens.sql', '1795415753617');

insert into schema_migrations values ('4', '0004-id-leases.sql', '1795415753627');

insert into token_keys values ('d3c64fc6', '1795415753881');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '1', 'Imported', NULL, NULL, '1', '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 'd3c64fc6', 'JYvOfGis1_HL0-b9MhrJ6HLB048To8vVkbbtJzfL-OQS9sjYq_7YJsmAXyIcAPb9b4Uklkc', NULL, NULL, '1795415753985', '1795415753985');

insert into user_groups values ('11938', '1', 'Customer', 'created', '2003', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'wnzUUfwMb1wICq-jVNpkskfTzT0Ebry3rkxoGIxmt6M', 'd3c64fc6', 'qwAlY-ZXP_QD2jV5AI64TZhnIlrfkhu0ATTN6Smk7wiP1HJDdgR6UdNA7SBybsPkInmTeEwWNQfJzxLI5U19TJy5nEyXshCrkzNy4bIsum1Kxh66', NULL, NULL, '1795415754488', '1795415754488');

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '2001', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', 'AD8Ne4r5jhaZcfHvyo0JVAxC4IM6rQyDNK4j01NeqJY', 'd3c64fc6', 'R5JuU30d_ydJPVO8YnJdBgOyd7lSeICmuoICQThWhlUPBqlqViHpGkJ0RH1xM_Bw45WQh9FdPDi5emsNqzIjyi2CgRxEqgwbZmLHRn4L24RoFG8r', 'HeHHoGYiXDJKr0O3fhCATPdex1oT1Mwe4bjIkzWzyzM', '1795419354502', '1795415754456', '1795415754502');

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2002', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'EPQ1YPglEssja82JMgUxWr66p1KN0FhrabStQZHSkCY', 'd3c64fc6', '79ME5jGVljGUgT40de_RcngoM_TV5mcD0k-6hRnlF_73F1e4vuO9qE_XwiVWNdT0Q4hBLHbbQV1dvA6Aw8cP9UbZs6KUs1oqK1kx9ctDhA7wsmVW', NULL, NULL, '1795415754483', '1795415754508');

insert into workspaces values ('1', 'default', '1795415753658');
