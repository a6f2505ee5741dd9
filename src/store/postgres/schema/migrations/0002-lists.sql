-- Lists of user groups, which span all buckets: each shard returns its first groups, in order.

-- A search finds names that begin with a text: by their bytes, as ids.
alter table user_groups alter column name type text collate "C";
create index user_groups_workspace_id_environment_provided_id
  on user_groups (workspace_id, environment, provided_id);
create index user_groups_workspace_id_environment_name_provided_id
  on user_groups (workspace_id, environment, name, provided_id);
