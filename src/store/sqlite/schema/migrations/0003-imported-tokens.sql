-- Buckets of tokens that do not encode the bucket of their group, such as imported ones.
-- A row exists exactly as long as a group has its digest, as that of its current or its last replaced token.

create table imported_tokens (
  token_digest text not null primary key,
  bucket integer not null
) strict, without rowid;
