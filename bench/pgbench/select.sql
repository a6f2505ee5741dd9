\set number random(0, :groups - 1)
select bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, version, token_digest,
  token_key_id, token_ciphertext, previous_token_digest, previous_token_expires_at, created_at, updated_at
from user_groups
where workspace_id = 1 and environment = 'Customer' and provided_id = 'customer-' || :number;
