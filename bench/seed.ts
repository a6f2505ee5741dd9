// Seeds the database of the benchmark through the operations, before any server starts.

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { progressBar } from '../src/commands/terminal/progress.ts';
import { operationSettings, readConfig } from '../src/config.ts';
import { openForCommand } from '../src/database.ts';
import { type Caller, operator } from '../src/domain/api-token.ts';
import { userGroupBody } from '../src/domain/user-group/user-group-body.ts';
import { loadKeyRing, registerActiveKey } from '../src/key-ring-source.ts';
import { createApiToken } from '../src/operations/api-token/api-token.ts';
import { type Context, createContext } from '../src/operations/context.ts';
import { getOrCreateUserGroup } from '../src/operations/user-group/get-or-create.ts';
import { type Operation, userGroup } from './operation.ts';

/** Number of creates in flight, enough for several batches of the store. */
const CONCURRENCY = 2_048;
export const WORKSPACE = 'bench';
const SQLITE = 'sqlite:';
const HOUR_MS = 3_600_000;

export interface SeededDatabase {
  /** Contains the database, its key file, and the token files of the load. */
  folder: string;
  /** Value of DATABASE_URL. */
  databaseUrl: string;
  /** Admin token of the workspace of the groups. */
  apiToken: string;
  groups: number;
  /** Token of each group. */
  tokens: readonly string[];
}

/** Creates the groups 0 to `groups` - 1 in a new database. */
export async function seed(folder: string, groups: number): Promise<SeededDatabase> {
  const databaseUrl = databaseUrlIn(folder);
  return withContext(databaseUrl, async (context) => {
    const { apiToken, token } = await createApiToken(context, {
      workspaceName: WORKSPACE,
      environment: 'Customer',
      permission: 'admin',
    });
    const tokens = await createGroups(context, operator(apiToken), groups);
    return { folder, databaseUrl, apiToken: token.reveal(), groups, tokens };
  });
}

/** Returns the database that an earlier run left in the folder, or creates it. */
export async function seedOnce(folder: string, groups: number): Promise<SeededDatabase> {
  const file = join(folder, `seeded-${groups}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as SeededDatabase;
  const database = await seed(join(folder, `seed-${groups}`), groups);
  writeFileSync(file, JSON.stringify(database), { mode: 0o600 });
  return database;
}

async function withContext<Result>(
  databaseUrl: string,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const config = readConfig({ DATABASE_URL: databaseUrl });
  const { store, close } = await openForCommand(config);
  try {
    const keyRing = await loadKeyRing(config, store);
    await registerActiveKey(keyRing, store, Date.now());
    return await work({
      ...createContext({ ...operationSettings(config), store, via: 'command_line' }),
      keyRing,
    });
  } finally {
    await close();
  }
}

async function createGroups(context: Context, caller: Caller, groups: number): Promise<string[]> {
  const bar = progressBar('user groups', groups);
  const tokens: string[] = [];
  while (tokens.length < groups) {
    const count = Math.min(CONCURRENCY, groups - tokens.length);
    const creating = Array.from({ length: count }, (_, index) => {
      const body = userGroupBody.read(Buffer.from(userGroup(String(tokens.length + index))));
      return getOrCreateUserGroup(context, caller, body, undefined);
    });
    for (const { token } of await Promise.all(creating)) tokens.push(token.reveal());
    bar.show(tokens.length);
  }
  bar.end();
  return tokens;
}

/**
 * Records that every group was seen an hour in the future, so that no resolve is the first of an hour, which
 * writes.
 */
export function markAllSeen({ databaseUrl }: SeededDatabase): void {
  using file = new DatabaseSync(databaseUrl.slice(SQLITE.length));
  file.prepare('update user_groups set last_seen_at = ?').run(Date.now() + HOUR_MS);
}

/**
 * Returns the tokens for a round of rotations, none of which an earlier round has used; the last one is for
 * the sample.
 */
export function tokensForRound(
  { body }: Operation,
  { tokens }: SeededDatabase,
  round: number,
  rounds: number,
): readonly string[] | undefined {
  if (!body.includes('{current_token}')) return undefined;
  const share = Math.floor((tokens.length - 1) / (rounds + 1));
  return tokens.slice(round * share, (round + 1) * share);
}

/** Copies the database for another server, since only one process can serve a file. */
export function copyOf(database: SeededDatabase, folder: string): SeededDatabase {
  cpSync(database.folder, folder, { recursive: true });
  return { ...database, folder, databaseUrl: databaseUrlIn(folder) };
}

function databaseUrlIn(folder: string): string {
  return `${SQLITE}${join(folder, 'user-groups.db')}`;
}
