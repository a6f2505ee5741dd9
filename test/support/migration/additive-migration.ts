// Finds the parts of a migration that are not additive, so that the previous version could not work with the
// result.

import type { TestDatabase } from '../database.ts';
import { columnsOf, runSql, SqlConnection } from '../sql.ts';

interface Part {
  table: string;
  /** Column, index, constraint or trigger, with its definition. */
  definition: string;
  /** Whether the previous version, which does not know the part, could fail to write because of it. */
  restricts: boolean;
}

/** State of a database before or after a migration. */
interface Snapshot {
  parts: Part[];
  columns: Map<string, string[]>;
  /** Rows of each table as JSON. */
  rows: Map<string, string[]>;
}

/** Takes a snapshot. With `earlier`, its rows have only the columns of that snapshot. */
export async function snapshotOf(database: TestDatabase, earlier?: Snapshot): Promise<Snapshot> {
  const isFile = database.url.startsWith('sqlite:');
  await using connection = isFile ? null : await SqlConnection.open(database.url);
  const query = async (sql: string) =>
    connection ? (await connection.query(sql)).rows : runSql(database, sql);
  const found = await query(isFile ? SQLITE_PARTS : POSTGRES_PARTS);
  const parts = found.map((part) => ({ ...part, restricts: Boolean(part.restricts) }) as Part);
  const columns = earlier?.columns ?? (await columnsOf(database));
  const rows = new Map<string, string[]>();
  for (const [table, names] of columns) {
    // A migration may have removed the table or a column.
    const all = await query(`select ${names.join(', ')} from ${table}`).catch(() => []);
    rows.set(
      table,
      all.map((row) => JSON.stringify(row)),
    );
  }
  return { parts, columns, rows };
}

/** Returns one line per fault. */
export function additiveFaults(before: Snapshot, after: Snapshot): string[] {
  const [known, remaining] = [before, after].map(({ parts }) => new Set(parts.map(lineOf))) as [
    Set<string>,
    Set<string>,
  ];
  const tables = new Set(before.parts.map(({ table }) => table));
  const lost = [...known].filter((line) => !remaining.has(line));
  const restricting = after.parts.filter(({ table, restricts }) => restricts && tables.has(table));
  const changed = [...before.rows].filter(([table, rows]) => {
    const left = new Set(after.rows.get(table));
    return !rows.every((row) => left.has(row));
  });
  return [
    ...lost.map((line) => `removes or changes ${line}`),
    ...restricting
      .map(lineOf)
      .filter((line) => !known.has(line))
      .map((line) => `may refuse a write of the previous version: ${line}`),
    ...changed.map(([table]) => `changes or deletes rows of ${table}`),
  ];
}

function lineOf({ table, definition }: Part): string {
  return `${table}: ${definition}`;
}

const SQLITE_PARTS = `
  with tables as (select name, sql from sqlite_schema where type = 'table' and name not like 'sqlite_%')
  select tables.name as "table", 'column ' || columns.name || ' ' || columns.type
      || iif("notnull", ' not null', '') || coalesce(' default ' || dflt_value, '') || iif(pk, ' key ' || pk, '') as definition,
    "notnull" and dflt_value is null as restricts
  from tables, pragma_table_xinfo(tables.name) as columns
  union all
  select tables.name, coalesce((select sql from sqlite_schema where name = indexes.name), 'unique ('
      || (select group_concat(name) from pragma_index_info(indexes.name)) || ')'), "unique"
  from tables, pragma_index_list(tables.name) as indexes
  union all
  select tables.name, 'foreign key ' || "from" || ' references ' || "table", 1
  from tables, pragma_foreign_key_list(tables.name)
  union all
  select name, 'checks', 1 from tables where sql like '%check%(%'
  union all
  select tbl_name, sql, 1 from sqlite_schema where type = 'trigger'`;

const POSTGRES_PARTS = `
  with tables as (
    select oid, relname from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace)
  select relname as "table", format('column %I %s%s%s%s', attname, format_type(atttypid, atttypmod),
      ' collate ' || attcollation::regcollation, case when attnotnull then ' not null' end,
      ' default ' || pg_get_expr(adbin, adrelid)) as definition,
    attnotnull and adbin is null as restricts
  from tables join pg_attribute on attrelid = tables.oid and attnum > 0 and not attisdropped
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
  union all
  select relname, pg_get_indexdef(indexrelid), indisunique from tables join pg_index on indrelid = tables.oid
  union all
  select relname, conname || ' ' || pg_get_constraintdef(pg_constraint.oid), true
  from tables join pg_constraint on conrelid = tables.oid and contype <> 'n'
  union all
  select relname, pg_get_triggerdef(pg_trigger.oid), true
  from tables join pg_trigger on tgrelid = tables.oid and not tgisinternal`;
