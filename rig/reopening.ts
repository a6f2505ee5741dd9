// The service on files as something has left them: it must open them, hold to all that was told, and go on.

import { pino } from 'pino';
import { startApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createApiToken } from '../src/operations/api-token.ts';
import { Conversation } from './conversation.ts';
import { SqliteExaminer } from './examiner.ts';
import { inspect } from './inspection.ts';
import type { Ledger } from './ledger.ts';
import type { Random } from './random.ts';

export interface Reopening {
  /** The database file. */
  path: string;
  ledger: Ledger;
  /** null where callers have none yet. */
  apiToken: string | null;
  random: Random;
}

const REPLACED_TOKENS = 2;

/** Throws `PromiseBroken`, and whatever keeps the service from starting. */
export async function reopen({ path, ledger, apiToken, random }: Reopening): Promise<void> {
  const config = readConfig({ DATABASE_URL: `sqlite:${path}`, PORT: '0' });
  const app = await startApp(config, pino({ level: 'silent' }));
  try {
    apiToken ??= await newApiToken(app);
    const conversation = new Conversation({ ledger, remember: async () => {}, apiToken, url: () => app.url });
    const groups = await inspect({ conversation, random, replacedTokens: REPLACED_TOKENS });
    // A new group has a team_id that no other was ever given.
    await conversation.insist('after', { kind: 'create', name: 'After', mapping: null, properties: null });
    await new SqliteExaminer(path).examine(groups + 1);
  } finally {
    await app.close();
  }
}

async function newApiToken({ context }: Awaited<ReturnType<typeof startApp>>): Promise<string> {
  const { token } = await createApiToken(context, {
    workspaceName: 'default',
    environment: 'Customer',
    permission: 'read-write',
    name: null,
    expiresAt: null,
  });
  return token.reveal();
}
