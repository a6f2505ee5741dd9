-- Leased blocks of ids, each with a unique name. A create with an id of an unknown lease is refused: a database that
-- was restored to an earlier state does not know later leases.

create table id_leases (
  lease text collate "C" not null primary key
);
