// Starts the service as in production.

import { join } from 'node:path';
import { nodeFlagsOf } from '../test/support/node-flags.ts';
import type { SeededDatabase } from './seed.ts';
import { rootPath, ServerProcess } from './server-process.ts';

type ServedDatabase = Pick<SeededDatabase, 'folder' | 'databaseUrl'>;

/** Starts `user-group-service serve`, with one serving thread unless `env` says otherwise. */
export function startService(
  { folder, databaseUrl }: ServedDatabase,
  nodeFlags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<ServerProcess> {
  return ServerProcess.start({
    script: ['bin/user-group-service.js', 'serve'],
    // The compile cache is next to the database, so that the benchmark leaves nothing behind and the first
    // start has no cache.
    env: {
      ...settingsOf({ folder, databaseUrl }),
      NODE_COMPILE_CACHE: join(folder, 'compile-cache'),
      UGS_THREADS: '1',
      ...env,
    },
    nodeFlags: [...nodeFlagsOf(rootPath('bin/user-group-service.js')), ...nodeFlags],
  });
}

/** PostgreSQL uses the key ring of the SQLite file from which it was copied; SQLite finds it by default. */
function settingsOf({ folder, databaseUrl }: ServedDatabase): Record<string, string> {
  const isFile = databaseUrl.startsWith('sqlite:');
  return { DATABASE_URL: databaseUrl, ...(!isFile && { UGS_TOKEN_KEYS_FILE: join(folder, 'token-keys') }) };
}
