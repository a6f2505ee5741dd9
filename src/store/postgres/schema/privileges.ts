// Privileges that the user of the service lacks on its tables.

import { StoreUnavailable } from '../../port.ts';
import { createdTables } from './migrate.ts';
import type { SchemaSession } from './session.ts';

/** The tables in the schema of the service and what the user may do to each, as PostgreSQL prints booleans. */
const PRIVILEGES = `select relname, privilege, has_table_privilege(oid, privilege)
  from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
  where relkind in ('r', 'p')
    and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))
  order by relname, privilege`;

/** Returns the missing privileges by table. */
export async function findMissingPrivileges({ ask }: SchemaSession): Promise<Map<string, string[]>> {
  const rows = (await ask(PRIVILEGES)) as [table: string, privilege: string, granted: string][];
  const missing = Map.groupBy(
    rows.filter(([, , granted]) => granted !== 't'),
    ([table]) => table,
  );
  return new Map(
    Array.from(missing, ([table, found]) => [table, found.map(([, privilege]) => privilege.toLowerCase())]),
  );
}

/** Throws `StoreUnavailable`, for example after a migration by another user who has not granted its tables. */
export async function refuseMissingPrivileges(session: SchemaSession): Promise<void> {
  const missing = await findMissingPrivileges(session);
  const tables = createdTables().filter((table) => missing.has(table));
  if (tables.length === 0) return;
  throw new StoreUnavailable(
    `PostgreSQL: permission denied for tables ${tables.join(', ')}: as their owner, grant select, insert, update and delete on them to the user of the service`,
  );
}
