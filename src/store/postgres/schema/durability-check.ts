// Settings of the server and of tables that acknowledge a change before it is durable.

import { OWN_TABLES } from './privileges.ts';
import type { SchemaSession } from './session.ts';

const RISKS: Record<string, string> = {
  fsync: 'a power cut may destroy the database',
  full_page_writes: 'a power cut may destroy the database',
  synchronous_commit: 'a crash of the server may lose changes that were acknowledged',
};

/** The settings that are off in the sessions of the service, and the tables that are unlogged. */
const FOUND = `select name, null from pg_settings where name = any ($1::text[]) and setting = 'off'
  union all
  select null, relname from pg_class where ${OWN_TABLES} and relpersistence = 'u'
  order by 1, 2`;

interface Risk {
  message: string;
  remedy: string;
}

export async function findDurabilityRisks({ ask }: SchemaSession): Promise<Risk[]> {
  const rows = (await ask(FOUND, [Object.keys(RISKS)])) as [setting: string | null, table: string | null][];
  return rows.map(([setting, table]) =>
    setting === null
      ? {
          message: `PostgreSQL: the table ${table} is unlogged: a crash of the server empties it`,
          remedy: `as its owner, run: alter table ${table} set logged`,
        }
      : { message: `PostgreSQL runs with ${setting} = off: ${RISKS[setting]}`, remedy: 'turn it on' },
  );
}
