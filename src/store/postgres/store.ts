// The PostgreSQL adapter. Any number of processes may serve one database.

import type { MigratedStore, Store } from '../port.ts';
import { lastPrimaryMemory } from './client/hosts.ts';
import type { PostgresOptions, ServerFacts } from './client/options.ts';
import { type ConnectionCounts, ConnectionPool } from './client/pool.ts';
import { executesSingly, runCommands } from './command-executors.ts';
import { keepPlansFitting } from './gather-statistics.ts';
import { runQueries } from './query-executors.ts';
import { hasCitus } from './schema/citus.ts';
import { findDurabilityRisks } from './schema/durability-check.ts';
import { migrate, migrations } from './schema/migrate.ts';
import { refuseHiddenTables, refuseMissingPrivileges } from './schema/privileges.ts';
import { refuseReusedIds } from './schema/reused-ids.ts';
import { type SchemaSession, withSchemaSession } from './schema/session.ts';
import { StandbyWait } from './standby-wait.ts';

interface PostgresStore extends Store {
  connections(): ConnectionCounts;
}

interface MigratedPostgresStore extends PostgresStore, MigratedStore {
  /** Warnings about the server for the operator. */
  warnings: string[];
  server: ServerFacts;
}

/** Opens the database for a serving process, which needs every privilege. Throws as `openPostgresStore`. */
export function openServingStore(options: PostgresOptions): Promise<MigratedPostgresStore> {
  return openPostgresStore(options, refuseMissingPrivileges);
}

/** Opens the database in its newest schema. Throws `ServerUnfit`, `SchemaTooNew` and `StoreUnavailable`. */
export async function openPostgresStore(
  options: PostgresOptions,
  check: (session: SchemaSession) => Promise<void> = async () => {},
): Promise<MigratedPostgresStore> {
  const lastPrimary = lastPrimaryMemory();
  const found = await withSchemaSession({ ...options, lastPrimary }, async (session) => {
    const newerVersion = migrations.newerVersion(await migrate(session, options.migrationObserver));
    const hasPolicies = await refuseHiddenTables(session);
    await check(session);
    await refuseReusedIds(session);
    const server = {
      isCitus: await hasCitus(session),
      firstHost: session.host,
      lastPrimary,
      hasPolicies,
    };
    const warnings = (await findDurabilityRisks(session)).map(({ message }) => message);
    return { newerVersion, warnings, server };
  });
  return { ...found, ...openMigratedStore(options, found.server) };
}

/** Opens a database that this process has opened before. Connects with the first query. */
export function openMigratedStore(options: PostgresOptions, server: ServerFacts): PostgresStore {
  const pool = new ConnectionPool({ ...options, ...server });
  const standbyWait = new StandbyWait(pool);
  return {
    read: (queries) => runQueries(pool, queries),
    write: async (commands) => {
      const results = await standbyWait.guard(() => runCommands(pool, commands));
      void keepPlansFitting(pool, commands, results);
      return results;
    },
    executesSingly,
    connections: () => pool.counts,
    close: () => pool.close(),
  };
}
