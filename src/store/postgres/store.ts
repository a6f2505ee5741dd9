// The store on PostgreSQL, which any number of processes may serve.

import type { Store } from '../store.ts';
import { hasCitus } from './citus.ts';
import { runCommands } from './commands.ts';
import { findDurabilityRisks } from './durability.ts';
import { migrate } from './migrate.ts';
import { onMigrationConnection } from './migration-connection.ts';
import type { PostgresOptions } from './options.ts';
import { ConnectionPool } from './pool.ts';
import { runQueries } from './queries.ts';
import { keepPlansFitting } from './statistics.ts';

interface PostgresStore extends Store {
  /** Those that ran when it was opened. */
  migrations: string[];
  /** What the operator should know of the server. */
  warnings: string[];
}

/** Opens the database in its newest schema. Throws `ServerUnfit`, `SchemaTooNew` and `StoreUnavailable`. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { migrations, warnings, isCitus } = await onMigrationConnection(options, async (session) => ({
    migrations: await migrate(session),
    warnings: await findDurabilityRisks(session),
    isCitus: await hasCitus(session),
  }));
  const pool = new ConnectionPool(options, isCitus);
  return {
    migrations,
    warnings,
    read: (queries) => runQueries(pool, queries),
    write: async (commands) => {
      const results = await runCommands(pool, commands);
      void keepPlansFitting(pool, commands, results);
      return results;
    },
    close: () => pool.close(),
  };
}
