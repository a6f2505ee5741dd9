// Privileges that the user of the service lacks on its tables.

import { StoreUnavailable } from '../../port.ts';
import { createdTables } from './migrate.ts';
import type { SchemaSession } from './session.ts';

/** The tables in the schema of the service. */
export const OWN_TABLES = `relkind in ('r', 'p')
    and relnamespace = (select relnamespace from pg_class where oid = to_regclass('schema_migrations'))`;

/** The tables in the schema of the service and what the user may do to each, as PostgreSQL prints booleans. */
const PRIVILEGES = `select relname, privilege, has_table_privilege(oid, privilege)
  from pg_class, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) as privilege
  where ${OWN_TABLES}
  order by relname, privilege`;

/** Tables with row-level security, and whether no policy applies to the user: it sees none of their rows. */
const ROW_SECURITY = `select relname, not exists (
    select 1 from pg_policy, unnest(polroles) as role
    where polrelid = pg_class.oid and case role when 0 then true else pg_has_role(role, 'usage') end)
  from pg_class where ${OWN_TABLES} and row_security_active(oid)`;

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

/** Returns the hidden tables in the order in which they are created, and whether policies decide about others. */
export async function checkRowSecurity({ ask }: SchemaSession): Promise<{
  hidden: string[];
  hasPolicies: boolean;
}> {
  const isHidden = new Map((await ask(ROW_SECURITY)).map(([table, answer]) => [table, answer === 't']));
  return {
    hidden: ['schema_migrations', ...createdTables()].filter((table) => isHidden.get(table)),
    hasPolicies: [...isHidden.values()].includes(false),
  };
}

/** Returns whether policies decide which rows the user sees. Throws `StoreUnavailable` if it sees none of a table. */
export async function refuseHiddenTables(session: SchemaSession): Promise<boolean> {
  const { hidden, hasPolicies } = await checkRowSecurity(session);
  if (hidden.length === 0) return hasPolicies;
  throw new StoreUnavailable(
    `PostgreSQL: row-level security hides all rows of ${hidden.join(', ')} from the user of the service: disable it on them`,
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
