// Makes a small file whose check for corruption takes long.

import { DatabaseSync } from 'node:sqlite';

/** Adds a constraint to the database at `file` whose check takes a minute. */
export function slowDownCheck(file: string): void {
  using database = new DatabaseSync(file);
  database.exec(`
    create table slow (bytes integer not null check (length(hex(zeroblob(bytes))) > 0));
    pragma ignore_check_constraints = on;
    with recursive row (number) as (select 1 union all select number + 1 from row where number < 1000)
    insert into slow select 20000000 from row`);
}
