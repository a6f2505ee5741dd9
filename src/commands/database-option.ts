// What the commands share that work on the database, beside a serving process or without one.

import { existsSync } from 'node:fs';
import { Option } from 'commander';
import { type Config, readConfig, settings, variablesOf } from '../config.ts';
import { type CommandDatabase, openForCommand } from '../database.ts';
import { NotFound } from './exit-code.ts';

export interface DatabaseOptions {
  databaseUrl?: string;
  json?: boolean;
}

export function databaseOption(): Option {
  const { flag, fallback } = settings.databaseUrl;
  const variables = variablesOf(settings.databaseUrl);
  return new Option(flag, `the database (environment: ${variables}; default: ${fallback})`);
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for scripts');
}

/** Opens the database, runs the work and closes it. Says on standard error when it has made a new one. */
export async function withDatabase<Result>(
  options: DatabaseOptions,
  work: (database: CommandDatabase, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = configOf(options);
  const { databaseUrl } = config;
  const isNew = databaseUrl.engine === 'sqlite' && !existsSync(databaseUrl.path);
  const database = await openForCommand(config);
  if (isNew) console.error(`Made a new database: ${databaseUrl.path}`);
  try {
    return await work(database, config);
  } finally {
    await database.close();
  }
}

/** The same for work that makes no database: throws `NotFound` where there is none. */
export async function withExistingDatabase<Result>(
  options: DatabaseOptions,
  work: (database: CommandDatabase, config: Config) => Promise<Result>,
): Promise<Result> {
  const { databaseUrl } = configOf(options);
  if (databaseUrl.engine === 'sqlite' && !existsSync(databaseUrl.path))
    throw new NotFound(`there is no database ${databaseUrl.path}`);
  return withDatabase(options, work);
}

export function configOf({ databaseUrl }: DatabaseOptions): Config {
  return readConfig(process.env, databaseUrl === undefined ? {} : { databaseUrl });
}
