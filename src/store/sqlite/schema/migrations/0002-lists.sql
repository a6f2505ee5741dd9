-- Lists of user groups. A file is one shard, so the primary key does not need the bucket. Without it, the key is in the
-- order of lists, and groups that are created one after the other lie side by side.

create table user_groups_in_order (
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
insert into user_groups_in_order
  select bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, version, token_digest,
    token_key_id, token_ciphertext, previous_token_digest, previous_token_expires_at, created_at, updated_at
  from user_groups order by workspace_id, environment, provided_id;
drop table user_groups;
alter table user_groups_in_order rename to user_groups;
create unique index user_groups_bucket_token_digest on user_groups (bucket, token_digest);
create index user_groups_bucket_previous_token_digest on user_groups (bucket, previous_token_digest)
  where previous_token_digest is not null;

-- For searches by the beginning of a name.
create index user_groups_workspace_id_environment_name_provided_id
  on user_groups (workspace_id, environment, name, provided_id);
