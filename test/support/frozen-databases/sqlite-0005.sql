-- {"tokenKeys":"3eaad323:XhAUNHdBnz02fVIwgT2WCJynsC9DLA8KWqDrXU7Zwyo","apiToken":"uga_JUF1kYLhjf8vGjcJ2BxpETXyROnvtdxyGiK4lV9MaN83s8BBv","userGroups":[{"provided_id":"created","name":"The group created","token":"ugt_36YdLLTVL1x3ohh8C3ZY1ahCwpAqb5LFOrxwBU7cjNXnR24VCBcc"},{"provided_id":"imported","name":"Imported","token":"a-token-of-another-system"},{"provided_id":"rotated","name":"The group rotated","token":"ugt_1iyscRRuNZdotAAFY33stsLCPY1gdtaRp99jHG6uvGqAb42W2hrq"},{"provided_id":"updated","name":"Updated","token":"ugt_26PknsxOfKNUpAjIjnQFFRT6vRae5sgxMGHUZMORErye0S0LS13b"}],"administration":{"apiToken":"uga_NCFnfxBTSSFus6iDoHFF3oPgW9iVWaUzr12oFvOCJik0tZZMa","configuration":{"success":1,"config":{"version":1,"schemas":{"orders":{"name":"Orders","default_data_source":"shared"}},"data_sources":{"shared":{"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}},"mapping_policy":{"mode":"report"},"property_schema":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"},"integrations":{"metabase":{"type":"metabase","settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"secret":{"environment":"INTEGRATION_METABASE_SECRET"}}},"webhook_endpoints":{"crm":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}},"config_version":1},"suspendedToken":"ugt_1eeytwcRHB76o4viOyMCATIkjc3qaI0iJV0mozhww27r951i0jQc"}}

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
, previous_digest text, previous_expires_at integer, last_used_at integer) strict;

CREATE INDEX api_tokens_previous_digest on api_tokens (previous_digest) where previous_digest is not null;

CREATE INDEX api_tokens_workspace_id_environment_api_token_id on api_tokens (workspace_id, environment, api_token_id);

CREATE TABLE deliveries (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  endpoint_id text not null,
  event_id text not null,
  event_type text not null,
  target_type text not null,
  target_id text not null,
  position integer not null,
  state text not null,
  attempts integer not null,
  next_attempt_at integer,
  last_attempt_at integer,
  response_status integer,
  error text,
  created_at integer not null, attempt_log text,
  primary key (workspace_id, environment, endpoint_id, event_id)
) strict, without rowid;

CREATE INDEX deliveries_due on deliveries (workspace_id, environment, endpoint_id, next_attempt_at)
  where next_attempt_at is not null;

CREATE INDEX deliveries_failed on deliveries (workspace_id, environment, endpoint_id, event_id) where state = 'failed';

CREATE TABLE documents (
  workspace_id integer not null,
  environment text not null,
  kind text not null,
  document_id text not null,
  version integer not null,
  body text not null,
  secret_key_id text,
  secret_ciphertext text,
  created_at integer not null,
  updated_at integer not null,
  primary key (workspace_id, environment, kind, document_id)
) strict, without rowid;

CREATE TABLE environment_figures (
  workspace_id integer not null,
  environment text not null,
  counting_until integer not null,
  counted_at integer,
  figures text,
  primary key (workspace_id, environment)
) strict, without rowid;

CREATE TABLE environments (
  workspace_id integer not null,
  environment text not null,
  config_version integer not null,
  primary key (workspace_id, environment)
) strict, without rowid;

CREATE TABLE events (
  position integer not null primary key autoincrement,
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  target_type text not null,
  target_id text not null,
  event_id text not null,
  type text not null,
  occurred_at integer not null,
  actor text not null,
  request_id text,
  version integer,
  changes text
) strict;

CREATE INDEX events_feed on events (workspace_id, environment);

CREATE INDEX events_target on events (workspace_id, environment, target_type, target_id);

CREATE TABLE failing_webhook_endpoints (
  workspace_id integer not null,
  environment text not null,
  endpoint_id text not null,
  failing_since integer not null,
  primary key (workspace_id, environment, endpoint_id)
) strict, without rowid;

CREATE TABLE id_blocks (
  sequence text not null primary key,
  next integer not null
) strict;

CREATE TABLE imported_tokens (
  token_digest text not null primary key,
  bucket integer not null
) strict, without rowid;

CREATE TABLE schema_migrations (
    number integer not null primary key, name text not null, applied_at integer not null) strict;

CREATE TABLE token_keys (
  key_id text not null primary key,
  created_at integer not null
) strict;

CREATE TABLE usage_counts (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  provided_id text not null,
  day integer not null,
  kind text not null,
  integration text not null,
  count integer not null,
  primary key (workspace_id, environment, provided_id, day, kind, integration)
) strict, without rowid;

CREATE INDEX usage_counts_day on usage_counts (workspace_id, environment, day, provided_id, kind, integration);

CREATE TABLE user_group_renames (
  bucket integer not null,
  workspace_id integer not null,
  environment text not null,
  provided_id text not null,
  position integer not null,
  event_id text not null,
  direction text not null,
  other_id text not null,
  team_id integer not null,
  primary key (workspace_id, environment, provided_id, position)
) strict, without rowid;

CREATE INDEX user_group_renames_position on user_group_renames (workspace_id, environment, position, event_id, direction);

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
  updated_at integer not null, suspended_at integer, last_seen_at integer,
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

insert into api_tokens values (1, 1, 'Customer', 'read-write', NULL, 'iPXygYvRQ4QTqD1Cb_3PalZHo3Tr6cQvbegH6p08KsY', 1795742594573, NULL, NULL, NULL, NULL, 1795741200000);

insert into api_tokens values (2, 1, 'Customer', 'admin', NULL, 'iEQFQqJahW1b-7P19brpIs41PQ8lMQFgMrh3PSkAQfk', 1795742595493, NULL, NULL, NULL, NULL, 1795741200000);

insert into documents values (1, 'Customer', 'data_source', 'shared', 1, '{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}', NULL, NULL, 1795742598530, 1795742598530);

insert into documents values (1, 'Customer', 'integration', 'metabase', 1, '{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}', '3eaad323', 'q3rApbeOwQktqlKxSRn1brrmVeq8cKz4QlOIBTgCBAlyWo9h7hJlSeSPSN9b1hH6devemLPxIKteo8s-', 1795742598530, 1795742598530);

insert into documents values (1, 'Customer', 'mapping_policy', 'default', 1, '{"mode":"report"}', NULL, NULL, 1795742598530, 1795742598530);

insert into documents values (1, 'Customer', 'property_schema', 'default', 1, '{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}', NULL, NULL, 1795742598530, 1795742598530);

insert into documents values (1, 'Customer', 'schema', 'orders', 1, '{"name":"Orders","default_data_source":"shared"}', NULL, NULL, 1795742598530, 1795742598530);

insert into documents values (1, 'Customer', 'webhook_endpoint', 'crm', 1, '{"url":"https://example.com/hook","event_types":["*"],"enabled":false}', '3eaad323', 'PpIGkonOTkif9slAb8djRKeUioyhnJNRtjcKU_6sgDqwBErxLwnVk_CzD7JDcEclPhY3pm-eAdeXJv94jN0X6aYIKeLGaxez0ozV-OvQ', 1795742598530, 1795742598530);

insert into environments values (1, 'Customer', 1);

insert into events values (1, 2302, 1, 'Customer', 'api_token', '1', 'evt_01a21a99760e000037f4210297d311c3', 'api_token.created', 1795742594574, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"read-write","expires_at":null}}');

insert into events values (2, 16047, 1, 'Customer', 'user_group', 'imported', 'evt_01a21a9978ad0000eb01e580301ecfaf', 'user_group.created', 1795742595245, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, 1, '{"from":null,"to":{"name":"Imported"}}');

insert into events values (3, 9591, 1, 'Customer', 'api_token', '2', 'evt_01a21a9979a60000f063f333db5b5bc4', 'api_token.created', 1795742595494, '{"type":"command_line","id":null,"name":null,"via":"command_line"}', NULL, NULL, '{"from":null,"to":{"name":null,"permission":"admin","expires_at":null}}');

insert into events values (4, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21a99837a0000c3d2d3811e3604c3', 'user_group.created', 1795742598010, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'WtRfeN-W-1', 1, '{"from":null,"to":{"name":"The group rotated","mapping":{"main":"db-1"},"properties":{"id":"rotated"}}}');

insert into events values (5, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21a99838d0000f1ed1c1eac3eb6d6', 'user_group.created', 1795742598029, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'WtRfeN-W-2', 1, '{"from":null,"to":{"name":"The first name","mapping":{"main":"db-1"},"properties":{"id":"updated"}}}');

insert into events values (6, 11938, 1, 'Customer', 'user_group', 'created', 'evt_01a21a9983910000c12e6733f3f96486', 'user_group.created', 1795742598033, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'WtRfeN-W-3', 1, '{"from":null,"to":{"name":"The group created","mapping":{"main":"db-1"},"properties":{"id":"created"}}}');

insert into events values (7, 6632, 1, 'Customer', 'user_group', 'rotated', 'evt_01a21a99839a0000e23c5f6150e9ff20', 'user_group.token_rotated', 1795742598042, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'WtRfeN-W-5', 2, NULL);

insert into events values (8, 8085, 1, 'Customer', 'user_group', 'updated', 'evt_01a21a99839e000032c5bf01339b251c', 'user_group.updated', 1795742598046, '{"type":"api_token","id":1,"name":null,"via":"api"}', 'WtRfeN-W-6', 2, '{"from":{"name":"The first name"},"to":{"name":"Updated"}}');

insert into events values (9, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a21a9983a30000b72c893f40ad8bcd', 'user_group.created', 1795742598051, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-7', 1, '{"from":null,"to":{"name":"Suspended","properties":{"id":"suspended"}}}');

insert into events values (10, 6364, 1, 'Customer', 'user_group', 'suspended', 'evt_01a21a9983a9000010e2fe9ca2006d82', 'user_group.updated', 1795742598057, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-8', 2, '{"from":{"suspended":false},"to":{"suspended":true}}');

insert into events values (11, 14325, 1, 'Customer', 'schema', 'orders', 'evt_01a21a99858200002151fb01033dc166', 'schema.created', 1795742598530, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"name":"Orders","default_data_source":"shared"}}');

insert into events values (12, 7161, 1, 'Customer', 'data_source', 'shared', 'evt_01a21a99858300000904293ddf0c1a48', 'data_source.created', 1795742598531, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"data_source_id":1,"schema_id":"orders","name":"Shared","attributes":{"database":"shared"}}}');

insert into events values (13, 8554, 1, 'Customer', 'mapping_policy', 'default', 'evt_01a21a9985830001b61eff071b561db7', 'mapping_policy.created', 1795742598531, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"mode":"report"}}');

insert into events values (14, 8554, 1, 'Customer', 'property_schema', 'default', 'evt_01a21a99858300026038a3d890a31517', 'property_schema.created', 1795742598531, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"schema":{"type":"object","properties":{"id":{"type":"string"}}},"mode":"enforce"}}');

insert into events values (15, 3891, 1, 'Customer', 'integration', 'metabase', 'evt_01a21a998583000388024ff162e8f8d5', 'integration.created', 1795742598531, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"type":"metabase","ttl_seconds":300,"settings":{"url":"https://bi.example.com","resources":[{"dashboard":7}],"properties":["id"]},"claims":{"id":{"property":"id"}},"unrestricted":false}}');

insert into events values (16, 16079, 1, 'Customer', 'webhook_endpoint', 'crm', 'evt_01a21a99858300049a4af6e620df59ef', 'webhook_endpoint.created', 1795742598531, '{"type":"api_token","id":2,"name":null,"via":"api"}', 'WtRfeN-W-9', 1, '{"from":null,"to":{"url":"https://example.com/hook","event_types":["*"],"enabled":false}}');

insert into id_blocks values ('team_id', 4001);

insert into id_blocks values ('workspace_id', 2);

insert into id_blocks values ('api_token_id', 3);

insert into id_blocks values ('data_source_id', 2);

insert into imported_tokens values ('~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', 16047);

insert into schema_migrations values (1, '0001-user-groups.sql', 1795742594517);

insert into schema_migrations values (2, '0002-lists.sql', 1795742594519);

insert into schema_migrations values (3, '0003-imported-tokens.sql', 1795742594520);

insert into schema_migrations values (4, '0004-administration.sql', 1795742594522);

insert into schema_migrations values (5, '0005-usage.sql', 1795742594524);

insert into sqlite_sequence values ('events', 16);

insert into token_keys values ('3eaad323', 1795742595058);

insert into user_groups values (16047, 1, 'Customer', 'imported', 1, 'Imported', NULL, NULL, 1, '~6Tom3XgbR9r3FL4C1Av4Xn1wDugrbAEKuSeAp7H-x9E', '3eaad323', 'DhExIG7jbPmjD6GsM0qZ9Zrb5DtHmkxZZcc7aV57pf4tLSORqIQJh75MLeXK0uJKW5VVMh4', NULL, NULL, 1795742595245, 1795742595245, NULL, NULL);

insert into user_groups values (6632, 1, 'Customer', 'rotated', 2001, 'The group rotated', '{"main":"db-1"}', '{"id":"rotated"}', 2, '0mKVE5ORH1ZpzxecBP72yCJZtaiTQmYPGaig-Sz9Pfo', '3eaad323', 'MyFRRUN2y8wdU4ejwV98NJQMzCPPb949jvYcaVnjoIwP3h501_4UxJHV20apfamahHg4fwckkDW1xfiCaJUM1aNc210LY48FhoYaxKwIkFusbuwU', '5IPpEVpyNWftKZc6S_82MXWR_3H2BA2cRJ5SLxMEBw8', 1795746198042, 1795742598010, 1795742598042, NULL, NULL);

insert into user_groups values (8085, 1, 'Customer', 'updated', 2002, 'Updated', '{"main":"db-1"}', '{"id":"updated"}', 2, 'Qh39lE-PUufV5-u3UAdHwY2lhqTDnI1hkIm8byVvUxo', '3eaad323', 'puUul6vrk8N_FhyNADay2AnIcLcUY9IpU_dENzVr9gmwgExy2N7ddqV8QP_U_aL28_m1ErKjQPd38RZS8bWAuiJwRFTY2YERonLfiqQKUewffSI-', NULL, NULL, 1795742598029, 1795742598046, NULL, NULL);

insert into user_groups values (11938, 1, 'Customer', 'created', 2003, 'The group created', '{"main":"db-1"}', '{"id":"created"}', 1, 'LPdp_pnBNlizsFpqC_KifaYvCuzlTjwJcBG0kb5lQnQ', '3eaad323', 'Ci0oWnOl-wdCtoV2OAx8NtFZ7qSYCQVIZTYFkLzf_0SJdrmZCQBV6cd4d785qnDROUpiYOdSXwnBOpvT8R2lrFbpN7C5ECzjsdikzsHdBlQFU8L_', NULL, NULL, 1795742598033, 1795742598033, NULL, NULL);

insert into user_groups values (6364, 1, 'Customer', 'suspended', 2004, 'Suspended', NULL, '{"id":"suspended"}', 2, 'yFWaPuzoYpW0SBiBk360y1xpS04e2b4xx72gjiABFtc', '3eaad323', 'mjW4t_kmruyhZWqThxpEI-3wZRsPn9HrcZBd69lZVFm1QreLNMhNzIKj4dg2IAP8UJ10swxRv1dZwr_V9Pzrw5C8n9YFf6hIB1C6NrnkP8INGTH7', NULL, NULL, 1795742598051, 1795742598057, 1795742598057, NULL);

insert into workspaces values (1, 'default', 1795742594537);
