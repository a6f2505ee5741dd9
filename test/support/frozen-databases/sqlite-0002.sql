-- {"tokenKeys":"d770a3da:41eOHcLQy6Cv09PX2JQWUwWF9g3Qg31brDppCwyFNK8","apiToken":"uga_LKeOC24yZWUyh4JVbHy3mYsBGey7c5Wqg3Dhjv985Z30afBTl","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YTtwGarp3tyEAA252eUYQn4z2RwwsBPQK2Ewh3B1rY7G0GFhA1"},{"provided_id":"imported","name":"Imported","token":"ugt_4ApUru6HtTduiXUVAEa54lW0d4dWAOAabiblGYTKm14Oo83ds6zA"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iylhMImGuh8paerHmskpWe3RvRjbdpUCvRfFNk5afhS353YVQLY"},{"provided_id":"updated","name":"Updated","token":"ugt_26PZtkXP5dBmn1T1Mt4ifakyTZuNMbOkzEKJ00eAIm6MhU462rKT"}]}

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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'Inj4hRrhh479FeY6jr4Mq4d_BqH59mkjuh9q7SYovRQ', 1795415741227, NULL, NULL);

insert into id_blocks values ('team_id', 1001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795415741218);

insert into schema_migrations values (2, '0002-lists.sql', 1795415741221);

insert into token_keys values ('d770a3da', 1795415741559);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 1, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'FsdLuFbOkVKWfZwvZARbfIwjEDWNR9cVZK2LMFcivfY', 'd770a3da', 'Ry9Ki1OZcBD4rOEHpws5bVEzAjFnI-H0J2y_SUzKrWr2BnWCqojmsO_qCTq4wImWEByF2yJymnk5BiVItJnHVhXrSSgsCOdvof6hNK_O3A77YfyS', 'ebT-HpuqaYl3sdnV8AWszdpwxELulzCQENP7rxvT5K8', 1795419341708, 1795415741689, 1795415741708);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, '9myv7JcnBV4ty5GqcwtLCZD70J-yeWfJ3kv1G9dK8Io', 'd770a3da', 'GxQl9DdZ0-v_EZSp4rDSyxtu2oxKudLbjAIYwqTgboVO8aXjeWLZn4K2kW7Lo-wDol2daWwStnrjfWtYzgzmznpnDDkNin9i7F6t8mfVPE19ty4l', NULL, NULL, 1795415741699, 1795415741711);

insert into user_groups values (11938, 1, 'Customer', 'created', 3, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'U3iKVZ5Kn1HY5czgm6ye171GKO2O-vmmV0Z90m6peEg', 'd770a3da', 'gnFLXRAI7TdoP6vJNCJmeCH0jE5wjo4qQbf2WKlV-OvYtf9Dk1GU-qrwJdO6c4tBnH2vFjLR3VKCVRvO_r1mAMkfwqW-cGwE9prEX3QzCYpWuz1O', NULL, NULL, 1795415741703, 1795415741703);

insert into user_groups values (16047, 1, 'Customer', 'imported', 4, 'Imported', '{"main":"db-1"}', '{"id":"imported"}', 1, 'P2S8HLMp_QjIXVpiaW8G-QoiKV8-n9JYsiD77MpgKsw', 'd770a3da', 'dAt20FjCigtie9qh2Y1D9rsPtO2xOGIzsFCqyNwIuH3Vh5OJowvnbgbumCK1lQOHjgU-2tit3uvYY4DQvD8ms05-nEknQrWa4p07UMQSipQXklEU', NULL, NULL, 1795415741705, 1795415741705);

insert into workspaces values (1, 'default', 1795415741227);
