-- Each block of ids that was leased, by a name that no other one has: what is created with an id of a lease that is
-- not here is refused. A database that is set back to an earlier state does not know the later ones.

create table id_leases (
  lease text collate "C" not null primary key
);
