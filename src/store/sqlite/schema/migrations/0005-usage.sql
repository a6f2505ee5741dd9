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

-- The last attempts of a delivery, the oldest first: an array of JSON of at most 10 entries, null before the first one.
alter table deliveries add column attempt_log text;
