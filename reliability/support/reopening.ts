// Starts the service on files left by a fault: it must open them, still return all acknowledged data, and accept changes.

import { pino } from 'pino';
import { startApp } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { createApiToken } from '../../src/operations/api-token/api-token.ts';
import { inspect } from './inspection.ts';
import { SqliteIntegrityChecker } from './integrity-checker.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';
import { Workload } from './workload.ts';

interface Reopening {
  /** The database file. */
  path: string;
  ledger: Ledger;
  /** null if callers have no API token yet. */
  apiToken: string | null;
  random: Random;
}

const REPLACED_TOKENS = 2;

/** Throws `PromiseBroken`, or the error that prevents the service from starting. */
export async function reopen({ path, ledger, apiToken, random }: Reopening): Promise<void> {
  // Other threads open the same file later.
  const config = readConfig({ DATABASE_URL: `sqlite:${path}`, PORT: '0', UGS_THREADS: '1' });
  const app = await startApp(config, pino({ level: 'silent' }));
  try {
    apiToken ??= await newApiToken(app);
    const workload = new Workload({ ledger, persist: async () => {}, apiToken, url: () => app.url });
    const groups = await inspect({ workload, random, replacedTokens: REPLACED_TOKENS });
    // A new group must get a team_id that was never issued.
    await workload.sendUntilAnswered('after', {
      kind: 'create',
      name: 'After',
      mapping: null,
      properties: null,
    });
    await new SqliteIntegrityChecker(path).check(groups + 1);
  } finally {
    await app.close();
  }
}

async function newApiToken({ context }: Awaited<ReturnType<typeof startApp>>): Promise<string> {
  const { token } = await createApiToken(context, {
    workspaceName: 'default',
    environment: 'Customer',
    permission: 'read-write',
  });
  return token.reveal();
}
