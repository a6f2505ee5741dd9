-- Figures about an environment, which one process counts at a time: until counting_until, no other one starts.
create table environment_figures (
  workspace_id integer not null,
  environment text not null,
  counting_until integer not null,
  counted_at integer,
  figures text,
  primary key (workspace_id, environment)
) strict, without rowid;

-- How often the tokens of a user group were used on a UTC day, counted from 1970. `integration` is empty except for embed
-- tokens. Rows outlive the user group.
create table usage_counts (
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
create index usage_counts_day on usage_counts (workspace_id, environment, day, provided_id, kind, integration);

-- Each rename of a user group twice: under the old id, and under the new one, with the position and the id of its event.
-- `other_id` is the id before the rename (`direction` is 'from') or after it ('to'). Earlier events of the group stay under
-- the old id.
create table user_group_renames (
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
create index user_group_renames_position on user_group_renames (workspace_id, environment, position, event_id, direction);

-- JSON array of the last attempts of a delivery, at most 10, the oldest first; null before the first attempt.
alter table deliveries add column attempt_log text;

-- Finds failed deliveries, which a caller may redeliver, among any number of others.
create index deliveries_failed on deliveries (workspace_id, environment, endpoint_id, event_id) where state = 'failed';

-- API tokens of an environment that are active, those that are not revoked, and those that are, each among any number of
-- others.
create index api_tokens_expires_at on api_tokens (workspace_id, environment, expires_at) where revoked_at is null;
create index api_tokens_unrevoked on api_tokens (workspace_id, environment, api_token_id) where revoked_at is null;
create index api_tokens_revoked on api_tokens (workspace_id, environment, api_token_id) where revoked_at is not null;
