-- Tokens that an import has brought do not name their bucket; a token that was issued here is not looked up here.
-- A row is there exactly as long as a group has its digest, as that of its current or its last replaced token.

create table imported_tokens (
  token_digest text not null primary key,
  bucket integer not null
) strict, without rowid;
