// The PostgreSQL adapter. Any number of processes may serve one database.

import type { MigratedStore } from '../port.ts';
import type { PostgresOptions } from './client/options.ts';
import { type ConnectionCounts, ConnectionPool } from './client/pool.ts';
import { runCommands } from './command-executors.ts';
import { keepPlansFitting } from './gather-statistics.ts';
import { runQueries } from './query-executors.ts';
import { hasCitus } from './schema/citus.ts';
import { findDurabilityRisks } from './schema/durability-check.ts';
import { migrate } from './schema/migrate.ts';
import { withSchemaSession } from './schema/session.ts';

interface PostgresStore extends MigratedStore {
  /** Warnings about the server for the operator. */
  warnings: string[];
  connections(): ConnectionCounts;
}

/** Opens the database in its newest schema. Throws `ServerUnfit`, `SchemaTooNew` and `StoreUnavailable`. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { schema, warnings, isCitus } = await withSchemaSession(options, async (session) => ({
    schema: await migrate(session, options.migrationObserver),
    warnings: await findDurabilityRisks(session),
    isCitus: await hasCitus(session),
  }));
  const pool = new ConnectionPool(options, isCitus);
  return {
    schema,
    warnings,
    read: (queries) => runQueries(pool, queries),
    write: async (commands) => {
      const results = await runCommands(pool, commands);
      void keepPlansFitting(pool, commands, results);
      return results;
    },
    connections: () => pool.counts,
    close: () => pool.close(),
  };
}
