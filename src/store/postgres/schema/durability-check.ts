// Server settings that acknowledge a change before it is durable.

import type { SchemaSession } from './session.ts';

const RISKS: Record<string, string> = {
  fsync: 'a power cut may destroy the database',
  full_page_writes: 'a power cut may destroy the database',
  synchronous_commit: 'a crash of the server may lose changes that were acknowledged',
};

/** A warning for each setting that is off in the sessions of the service. */
export async function findDurabilityRisks({ ask }: SchemaSession): Promise<string[]> {
  const rows = await ask(
    "select name from pg_settings where name = any ($1::text[]) and setting = 'off' order by name",
    [Object.keys(RISKS)],
  );
  return rows.map(([name]) => `PostgreSQL runs with ${name} = off: ${RISKS[name as string]}`);
}
