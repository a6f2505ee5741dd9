import { Command } from 'commander';
import { addDatabaseOptions, type DatabaseOptions, withDatabase } from './option/database-option.ts';
import { printResult } from './terminal/output.ts';

export function migrateCommand(): Command {
  const command = new Command('migrate')
    .summary('migrate the database to the latest schema version')
    .description(
      'Applies the pending schema migrations and prints their names. "serve" also applies them when it starts; run migrate ' +
        'to apply them in a separate step.',
    );
  return addDatabaseOptions(command).action((options: DatabaseOptions) =>
    withDatabase(options, async ({ appliedMigrations: applied, newerVersion }) => {
      const done = newerVersion === null ? 'The schema is up to date.' : `Nothing to apply: ${newerVersion}.`;
      printResult(options, { applied }, applied.length === 0 ? done : `Applied ${applied.join(', ')}.`);
    }),
  );
}
