-- Instants are milliseconds since 1970. mapping and properties are JSON text, exactly as responses contain it.

create table workspaces (
  workspace_id integer not null primary key,
  name text not null unique,
  created_at integer not null
) strict;

create table api_tokens (
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

-- The bucket leads both unique keys: a lookup by id and one by token each address one shard.
create table user_groups (
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
  primary key (bucket, workspace_id, environment, provided_id)
) strict;
create unique index user_groups_bucket_token_digest on user_groups (bucket, token_digest);
create index user_groups_bucket_previous_token_digest on user_groups (bucket, previous_token_digest)
  where previous_token_digest is not null;

-- Keys that stored tokens may be encrypted with: a service that lacks one must not start.
create table token_keys (
  key_id text not null primary key,
  created_at integer not null
) strict;

-- Ids are leased in blocks; see leaseIds.
create table id_blocks (
  sequence text not null primary key,
  next integer not null
) strict;
insert into id_blocks (sequence, next) values ('team_id', 1), ('workspace_id', 1), ('api_token_id', 1);
