import { existsSync } from 'node:fs';
import { Command } from 'commander';
import { backupFile } from '../database.ts';
import { configOf, type DatabaseOptions, databaseOption, jsonOption } from './database-option.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { printJson } from './output.ts';
import { type ProgressBar, progressBar } from './progress.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .summary('copy a SQLite database to a file, while it is served')
    .description(
      'Copies a SQLite database, as it is at one moment, to a new file, while the service goes on. The key ring is not in ' +
        'it: keep a copy of the file token-keys elsewhere, for a backup is worth nothing without it, and the two together are ' +
        'all that a thief needs. A PostgreSQL database is backed up with pg_dump.',
    )
    .argument('<file>', 'the file to make')
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action(runBackup);
}

async function runBackup(file: string, options: DatabaseOptions): Promise<void> {
  const { databaseUrl } = configOf(options);
  if (databaseUrl.engine !== 'sqlite')
    throw new UsageError('backup is for SQLite; use pg_dump for PostgreSQL');
  if (!existsSync(databaseUrl.path)) throw new NotFound(`there is no database ${databaseUrl.path}`);
  using bars = new DisposableStack();
  let bar: ProgressBar | null = null;
  const userGroups = await backupFile(databaseUrl.path, file, (pages, of) => {
    bar ??= bars.use(progressBar('pages', of));
    bar.show(pages);
    if (pages === of) bar.end();
  });
  if (options.json) printJson({ file, user_groups: userGroups });
  else
    console.log(
      `${userGroups} user groups are in ${file}; the key ring is not, so keep a copy of it elsewhere.`,
    );
}
