// The database that the load runs on, filled through the operations themselves before any server starts.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { progressBar } from '../src/commands/progress.ts';
import { readConfig } from '../src/config.ts';
import { openForCommand } from '../src/database.ts';
import type { Caller } from '../src/domain/api-token.ts';
import { userGroupBody } from '../src/domain/body.ts';
import { createApiToken } from '../src/operations/api-token.ts';
import type { Context } from '../src/operations/context.ts';
import { getOrCreateUserGroup } from '../src/operations/get-or-create.ts';
import { IdLease } from '../src/operations/id-lease.ts';
import { Turns } from '../src/operations/turns.ts';
import { loadKeyRing, registerActiveKey } from '../src/token-keys.ts';
import { userGroup } from './operation.ts';

/** A few batches of the store. */
const AT_ONCE = 2_048;

export interface SeededDatabase {
  /** Holds the database, its key file, and what the load needs. */
  folder: string;
  /** What DATABASE_URL is set to. */
  databaseUrl: string;
  /** A read-write token of the workspace that the groups are in. */
  apiToken: string;
  groups: number;
  /** The token of each group. */
  tokens: readonly string[];
}

/** Makes the groups 0 to `groups` - 1 in a new database. */
export async function seed(folder: string, groups: number): Promise<SeededDatabase> {
  const databaseUrl = databaseUrlIn(folder);
  const config = readConfig({ DATABASE_URL: databaseUrl });
  const { store, close } = await openForCommand(config);
  try {
    const keyRing = await loadKeyRing(config, store);
    await registerActiveKey(keyRing, store, Date.now());
    const teamIds = new IdLease(store, 'team_id');
    const turns = new Turns();
    const context = { store, keyRing, teamIds, turns, clock: Date.now, defaultGracePeriodSeconds: 0 };
    const { apiToken, token } = await createApiToken(context, {
      workspaceName: 'bench',
      environment: 'Customer',
      permission: 'read-write',
      name: null,
      expiresAt: null,
    });
    const tokens = await createGroups(context, apiToken, groups);
    return { folder, databaseUrl, apiToken: token.reveal(), groups, tokens };
  } finally {
    await close();
  }
}

async function createGroups(context: Context, caller: Caller, groups: number): Promise<string[]> {
  const bar = progressBar('user groups', groups);
  const tokens: string[] = [];
  while (tokens.length < groups) {
    const count = Math.min(AT_ONCE, groups - tokens.length);
    const creating = Array.from({ length: count }, (_, index) => {
      const body = userGroupBody.read(Buffer.from(userGroup(String(tokens.length + index))));
      return getOrCreateUserGroup(context, caller, body);
    });
    for (const { token } of await Promise.all(creating)) tokens.push(token.reveal());
    bar.show(tokens.length);
  }
  bar.end();
  return tokens;
}

/** The same database once more, for another server: a file is served by one process. */
export function copyOf(database: SeededDatabase, folder: string): SeededDatabase {
  cpSync(database.folder, folder, { recursive: true });
  return { ...database, folder, databaseUrl: databaseUrlIn(folder) };
}

function databaseUrlIn(folder: string): string {
  return `sqlite:${join(folder, 'user-groups.db')}`;
}
