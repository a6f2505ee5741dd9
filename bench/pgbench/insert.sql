\set bucket random(0, 16383)
\set id random(1000000000000000, 9000000000000000)
\set secret random(1000000000000000, 9000000000000000)
insert into user_groups (bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, version,
  token_digest, token_key_id, token_ciphertext, previous_token_digest, previous_token_expires_at, created_at,
  updated_at)
values (:bucket, 1, 'Customer', 'customer-' || :id, :id, 'Customer ' || :id, '{"40":"source-' || :id || '"}',
  '{"plan":"gold","region":"eu-west","seats":25}', 1, rpad(:secret || ':', 43, 'd'), '01234567',
  rpad(:secret || ':', 114, 'c'), null, null, 1800000000000, 1800000000000)
on conflict (bucket, workspace_id, environment, provided_id) do nothing;
