// The store on PostgreSQL, which any number of processes may serve.

import type { Store } from '../store.ts';
import { hasCitus } from './citus.ts';
import { runCommands } from './commands.ts';
import { migrate } from './migrate.ts';
import { onMigrationConnection } from './migration-connection.ts';
import type { PostgresOptions } from './options.ts';
import { ConnectionPool } from './pool.ts';
import { runQueries } from './queries.ts';
import { keepPlansFitting } from './statistics.ts';

/**
 * Opens the database in its newest schema, and names the migrations that ran. Throws `ServerTooOld`,
 * `SchemaTooNew` and `StoreUnavailable`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store & { migrations: string[] }> {
  const migrations = await migrate(options);
  const pool = new ConnectionPool(options, await onMigrationConnection(options, hasCitus));
  return {
    migrations,
    read: (queries) => runQueries(pool, queries),
    write: async (commands) => {
      const results = await runCommands(pool, commands);
      void keepPlansFitting(pool, commands, results);
      return results;
    },
    close: () => pool.close(),
  };
}
