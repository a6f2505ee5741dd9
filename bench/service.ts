// The servers that are measured: the service as it is served in production, and variants of it.

import { join } from 'node:path';
import type { SeededDatabase } from './seed.ts';
import { ServerProcess } from './server-process.ts';

type ServedDatabase = Pick<SeededDatabase, 'folder' | 'databaseUrl'>;

/** `user-group-service serve`. */
export function startService(
  { folder, databaseUrl }: ServedDatabase,
  nodeFlags: readonly string[] = [],
): Promise<ServerProcess> {
  return ServerProcess.start({
    script: ['bin/user-group-service.js', 'serve'],
    // Beside the database: a benchmark leaves nothing behind, and its first start finds no cache.
    env: { DATABASE_URL: databaseUrl, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
    nodeFlags,
  });
}

/** See `bench/variant.ts` for the flags. `under` is a command that runs Node, such as strace. */
export function startVariant(
  { databaseUrl }: ServedDatabase,
  flags: readonly string[],
  under: readonly string[] = [],
): Promise<ServerProcess> {
  return ServerProcess.start({
    script: ['bench/variant.ts', ...flags],
    env: { DATABASE_URL: databaseUrl },
    under,
  });
}
