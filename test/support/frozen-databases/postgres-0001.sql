-- {"tokenKeys":"b66df09f:XNF3OhHhCl4d0tMOVde6cbeCJrntNieSR0G5g2K8OH0","apiToken":"uga_xfdhLNPNg33VtnLVPtl3XUTQD4wUNhfdHmu7kH1xvrA1CGJns","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YdL2WSiz0gavz3mCxqBbOjUt2qT5aHQyRTeclp4BOYpH3RfiGx"},{"provided_id":"imported","name":"Imported","token":"ugt_4ApN7wye8yslS8bpG612ZNZ8xXp3b2KF0rnUGHOlX7TTu535bd6p"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iy5qaxKYWK9opLg09CqnYrdUNQMXMdOYh4c6YOjdPderV33Vcvv"},{"provided_id":"updated","name":"Updated","token":"ugt_26Pl7sFrbUvVRicgeBvG1DjiJF2lGfvZnEfrgbzd2TJbAg0CIwhJ"}]}

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
  constraint user_groups_pkey PRIMARY KEY (bucket, workspace_id, environment, provided_id));

create table workspaces (
  workspace_id bigint not null,
  name text collate "C" not null,
  created_at bigint not null,
  constraint workspaces_name_key UNIQUE (name),
  constraint workspaces_pkey PRIMARY KEY (workspace_id));

CREATE INDEX user_groups_bucket_previous_token_digest ON user_groups USING btree (bucket, previous_token_digest) WHERE (previous_token_digest IS NOT NULL);

CREATE UNIQUE INDEX user_groups_bucket_token_digest ON user_groups USING btree (bucket, token_digest);

insert into api_tokens values ('1', '1', 'Customer', 'read-write', NULL, 'ODDOFP1lYxnyP05dO-sJW360F0rN_Lxcscjq6EHE3fU', '1795415737780', NULL, NULL);

insert into id_blocks values ('workspace_id', '2');

insert into id_blocks values ('api_token_id', '2');

insert into id_blocks values ('team_id', '1001');

insert into schema_migrations values ('1', '0001-user-groups.sql', '1795415737763');

insert into token_keys values ('b66df09f', '1795415738324');

insert into user_groups values ('11938', '1', 'Customer', 'created', '3', 'The group created', '{"main":"db-1"}', '{"id":"created"}', '1', 'Je7AxEJFhuXLR9OGZlChPNihoI7xeczZ-rQq2hJzp5Y', 'b66df09f', 'Jz1sGfoZ3h0uYv0D2TumsBfGpDXadXNj8UmOAK09Fho_nnqSeNn3ZORL-3eUljBAhPa7jKROLkSJCLtLPL3s-g438G4v-VVNXu08RO1tihn8I3W0', NULL, NULL, '1795415738412', '1795415738412');

insert into user_groups values ('16047', '1', 'Customer', 'imported', '4', 'Imported', '{"main":"db-1"}', '{"id":"imported"}', '1', 'I_5bq_2OhMxkGKRxhajOb0lMJPOToOzZcJB5yd2dEwk', 'b66df09f', '8wbggK1r_hgNkV1vGPZvj7no8nXuzmzIVyi4En4gaOTfNcDm_oSdoyHaUp1vWCZP7BrBfb0Nni1HLGWV9BimHepmpJv_NKbzC64VA_VE6t_LxHoR', NULL, NULL, '1795415738416', '1795415738416');

insert into user_groups values ('6632', '1', 'Customer', 'rotated', '1', 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', '2', '1VN_ij4TCLYogxiv66ztAqIgd-W2wARI3d1_5PWJwTM', 'b66df09f', 'N_OvC1gfAiE5GmZ2Z9DkhQgJi3egPixZi1cp_kvr8tOtl4pfZrPDN6_zj9YLzjf3xKSsV45a5tQGhrie5kgacHi1RjqWNhOjQkmbokDF3jW4RrZJ', 'iFXn7Gmr7E-sjT6YKw3eq3segdTYR3sjLaL2J0XE3NA', '1795419338421', '1795415738379', '1795415738421');

insert into user_groups values ('8085', '1', 'Customer', 'updated', '2', 'Updated', '{"main":"db-1"}', '{"id":"updated"}', '2', 'FZcCkKY6NoS3ngO0Hjj3Q7UAcPn7T_vKcitWK6jrWdE', 'b66df09f', '7d_eaWlC_YRMP3ulfb9OJUgYpOkq3CiIF3YDz5OuzotBvllvRdV1_fr9RFzi2rG3-Sh-1fLWlnyB5h_crGBMe9jV6aPbr-IHk_--latKWUyk46QK', NULL, NULL, '1795415738407', '1795415738426');

insert into workspaces values ('1', 'default', '1795415737780');
