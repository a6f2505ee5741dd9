-- {"tokenKeys":"3817ed06:kbkRHsxZn65u6OuauKjKfq4spr1PEL6AynSPAw2Ai4g","apiToken":"uga_AbZIiuJLUDIa4qUIXdlHDqA4vtUP8jFNPX7iXDP4HwQ4J4JEz","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YAXSXQPyngS4BKk1rMFOw8xZqIFPBCC38LmSDLboys8R3F1RQO"},{"provided_id":"imported","name":"Imported","token":"ugt_4ApTnfIGAXx5WGgNxdDDTVGOYJmcQCcd0DYjuGQtvjJNDM2AHSLE"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iynTvZHFhcSDg5GCvg11dlubEKNa4RJVv4tMMFNiIW9bg1o19Py"},{"provided_id":"updated","name":"Updated","token":"ugt_26POBq5eMWpr25yEZlnQX2l8QsWpNGu7ZlCmN2knlVBQuW0rT0jX"}]}

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

CREATE TABLE user_groups (
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

CREATE INDEX user_groups_bucket_previous_token_digest on user_groups (bucket, previous_token_digest)
  where previous_token_digest is not null;

CREATE UNIQUE INDEX user_groups_bucket_token_digest on user_groups (bucket, token_digest);

CREATE TABLE workspaces (
  workspace_id integer not null primary key,
  name text not null unique,
  created_at integer not null
) strict;

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'D24Vs3wFkeiZp0yDDVddTF8Svp3NjbLDaxtU4DIX9hg', 1795415736210, NULL, NULL);

insert into id_blocks values ('team_id', 1001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 2);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795415736207);

insert into token_keys values ('3817ed06', 1795415736603);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 1, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, 'y06sxMjlNGXGb4sJZdVw4QJMtlxikTgiqkiLtCYsn18', '3817ed06', 'Td-P0Ka84mvB-WxWhn7IiLkkxxBd6W3r9mUdvyzNlgmgV5R17JFnGKu_GJa1ib2mtQZeZHusHOcMeU1oZzfAXAHVovaMXJIKGN-204CK0wJpBulF', 'ce_UkH33LgysfDQF6mtO-o3qqqeYFTphy-Ruy8SrE9k', 1795419336859, 1795415736827, 1795415736859);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'iH2EriqMlZEhpd5p7KdUuselnyonuOrrLozkxmdWOR8', '3817ed06', '2YV99l9w1ETiZ7fg7i7IlLFlJ_42qBJZrP7XXm4MGrClBsmYN4CBjH2h5DMSZpU5V9YMtDGaXYzJeFynKKLjqJRCQkj8kUN9EAiWsQfITRWLgT9h', NULL, NULL, 1795415736844, 1795415736869);

insert into user_groups values (11938, 1, 'Customer', 'created', 3, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'B64K9SfhiMysy-dgr14GWXx1zTUdOEE5DfYBq3JikEk', '3817ed06', '3wqktSGNXHVf0skDlgfqtr4fqpVPFC6TEmI9AZj_UVpmhQbBAmUG2KFfkv9sWsZ-pGH_hzz1PiXrrV8ESn5Vwm17NtSmnjOk79yvZYUJX30476Uw', NULL, NULL, 1795415736851, 1795415736851);

insert into user_groups values (16047, 1, 'Customer', 'imported', 4, 'Imported', '{"main":"db-1"}', '{"id":"imported"}', 1, 'h8pYbXSsB0l4su6w8lzCqRfSkYV44fVK0_ijpIPmmUA', '3817ed06', 'VIU47SQz-cWyhiaM1xy7GwB212OOUYCtcIKG1PM2-VVfrad-PBs8ZxnXTe9QpKF-hUrTCJfRPa3gRvCYwjIKIGR-g7Avhaj3m-rezSTbOgRTrbyf', NULL, NULL, 1795415736855, 1795415736855);

insert into workspaces values (1, 'default', 1795415736210);
