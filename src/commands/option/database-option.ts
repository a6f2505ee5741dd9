// Options and database access shared by the commands, which may run while the service is running.

import { statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { type Config, type DatabaseUrl, readConfig, settings, variableText } from '../../config.ts';
import { type CommandDatabase, openForCommand, SchemaTooNew } from '../../database.ts';
import { NotFound } from '../exit-code.ts';

export interface DatabaseOptions {
  databaseUrl?: string;
  json?: boolean;
}

export function databaseOption(): Option {
  const { flag, fallback } = settings.databaseUrl;
  const variables = variableText(settings.databaseUrl);
  return new Option(flag, `database to use (environment: ${variables}; default: ${fallback})`);
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON for scripts');
}

/** Adds the options of commands that use only the database and print a result. */
export function addDatabaseOptions(command: Command): Command {
  return command.addOption(databaseOption()).addOption(jsonOption());
}

/** Adds these options, and the action of a command that works on an existing database. */
export function onDatabase<Options extends DatabaseOptions, Arguments extends unknown[]>(
  command: Command,
  work: (database: OpenDatabase, options: Options, ...args: Arguments) => Promise<void>,
): Command {
  return addDatabaseOptions(command).action(() => {
    const options = command.opts<Options>();
    const args = command.processedArgs as Arguments;
    return withExistingDatabase(options, (database) => work(database, options, ...args));
  });
}

export type OpenDatabase = CommandDatabase & { config: Config };
type Work = (database: OpenDatabase) => Promise<void>;

/** Opens the database, runs `work` and closes the database. Reports on standard error that it created a SQLite file. */
export async function withDatabase(options: DatabaseOptions, work: Work): Promise<void> {
  const config = loadConfig(options);
  const { databaseUrl } = config;
  const isNew = databaseUrl.engine === 'sqlite' && isMissing(databaseUrl.path);
  await using database = await openForCommand(config);
  if (isNew) console.error(`Created database ${databaseUrl.path}.`);
  await work({ ...database, config });
}

/** Does the same, but throws `NotFound` instead of creating a SQLite database. */
export async function withExistingDatabase(options: DatabaseOptions, work: Work): Promise<void> {
  const config = loadConfig(options);
  requireDatabase(config.databaseUrl);
  await using database = await openForCommand(config);
  await work({ ...database, config });
}

/** Throws `SchemaTooNew` after migrations by a newer version, for commands that must know all data. */
export function refuseNewerVersion({ newerVersion }: CommandDatabase): void {
  if (newerVersion !== null) {
    throw new SchemaTooNew(
      `${newerVersion}, but this command must know all data: use the newer version for it`,
    );
  }
}

/** Throws `NotFound` if a SQLite database does not exist. */
export function requireDatabase(databaseUrl: DatabaseUrl): void {
  if (databaseUrl.engine !== 'sqlite' || !isMissing(databaseUrl.path)) return;
  throw new NotFound(
    `database ${databaseUrl.path} does not exist; check the path, and that its volume is mounted`,
  );
}

/** Returns false if the directory is not accessible: opening the file then says so. */
export function isMissing(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

export function loadConfig({ databaseUrl }: DatabaseOptions): Config {
  return readConfig(process.env, databaseUrl === undefined ? {} : { databaseUrl });
}
