// The parts of the adapter that src/database.ts uses.

export type { PostgresOptions, ServerFacts } from './client/options.ts';
export type { ConnectionCounts } from './client/pool.ts';
export { inspectPostgres } from './schema/inspect.ts';
export { migrations, type ServerUnfit } from './schema/migrate.ts';
export { openMigratedStore, openPostgresStore, openServingStore } from './store.ts';
