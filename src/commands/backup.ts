import { Command } from 'commander';
import { loadSqlite } from '../database.ts';
import { UsageError } from './exit-code.ts';
import {
  addDatabaseOptions,
  type DatabaseOptions,
  loadConfig,
  requireDatabase,
} from './option/database-option.ts';
import { counted, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';

export function backupCommand(): Command {
  const command = new Command('backup')
    .summary('back up a SQLite database to a file while the service is running')
    .description(
      'Writes a consistent snapshot of a SQLite database to a new file while the service is running. The backup does not ' +
        'contain the key ring. Keep a copy of the file token-keys in a different place: without it the backup is useless, ' +
        'and the two together are all that an attacker needs. Use pg_dump to back up a PostgreSQL database.',
    )
    .argument('<file>', 'file to create');
  return addDatabaseOptions(command).action(runBackup);
}

async function runBackup(file: string, options: DatabaseOptions): Promise<void> {
  if (file === '-')
    throw new UsageError(
      'cannot write a backup to standard output; name a file (./- for a file that is called -)',
    );
  const { databaseUrl } = loadConfig(options);
  if (databaseUrl.engine !== 'sqlite')
    throw new UsageError('backup supports only SQLite; use pg_dump for PostgreSQL');
  requireDatabase(databaseUrl);
  const { backupFile, recordBackup } = await loadSqlite();
  using bar = progressBar('pages copied');
  const userGroups = await backupFile(databaseUrl.path, file, (pages, total) => {
    bar.show(pages, total);
    if (pages === total) bar.end();
  });
  try {
    // The service reports it as a metric.
    recordBackup(databaseUrl.path);
  } catch (error) {
    console.error(
      `The backup is complete, but its time cannot be recorded beside the database: ${(error as Error).message}.`,
    );
  }
  const text = `Backed up ${counted(userGroups, 'user group')} to ${file}. The key ring is not included: keep a copy of it elsewhere.`;
  printResult(options, { file, user_groups: userGroups }, text);
}
