// The store on PostgreSQL, which any number of processes may serve.

import type { Store } from '../store.ts';
import { runCommands } from './commands.ts';
import { migrate } from './migrate.ts';
import type { PostgresOptions } from './options.ts';
import { ConnectionPool } from './pool.ts';
import { runQueries } from './queries.ts';

/**
 * Opens the database in its newest schema, and names the migrations that ran. Throws `ServerTooOld`,
 * `SchemaTooNew` and `StoreUnavailable`.
 */
export async function openPostgresStore(options: PostgresOptions): Promise<Store & { migrations: string[] }> {
  const migrations = await migrate(options);
  const pool = new ConnectionPool(options);
  return {
    migrations,
    read: (queries) => runQueries(pool, queries),
    write: (commands) => runCommands(pool, commands),
    close: () => pool.close(),
  };
}
