-- Instants are milliseconds since 1970. mapping and properties are JSON text, exactly as responses contain it.
-- Keys are collated "C": they are compared byte for byte, and an operating system that changes how it sorts
-- a language cannot damage their indexes.

create table workspaces (
  workspace_id bigint not null primary key,
  name text collate "C" not null unique,
  created_at bigint not null
);

create table api_tokens (
  api_token_id bigint not null primary key,
  workspace_id bigint not null,
  environment text not null,
  permission text not null,
  name text,
  digest text collate "C" not null unique,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint
);

-- The bucket leads both unique keys: a lookup by id and one by token each address one shard.
create table user_groups (
  bucket integer not null,
  workspace_id bigint not null,
  environment text collate "C" not null,
  provided_id text collate "C" not null,
  team_id bigint not null,
  name text not null,
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
  primary key (bucket, workspace_id, environment, provided_id)
);
create unique index user_groups_bucket_token_digest on user_groups (bucket, token_digest);
create index user_groups_bucket_previous_token_digest on user_groups (bucket, previous_token_digest)
  where previous_token_digest is not null;

-- Keys that stored tokens may be encrypted with: a service that lacks one must not start.
create table token_keys (
  key_id text collate "C" not null primary key,
  created_at bigint not null
);

-- Ids are leased in blocks; see lease-ids.ts.
create table id_blocks (
  sequence text collate "C" not null primary key,
  next bigint not null
);
insert into id_blocks (sequence, next) values ('team_id', 1), ('workspace_id', 1), ('api_token_id', 1);
