import { Command } from 'commander';
import { type DatabaseOptions, databaseOption, jsonOption, withDatabase } from './database-option.ts';
import { printJson } from './output.ts';

export function migrateCommand(): Command {
  return new Command('migrate')
    .summary('bring the database to the newest schema')
    .description(
      'Brings the database to the newest schema. "serve" does it too when it starts; run it first where you want to see it happen.',
    )
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withDatabase(options, async ({ migrations }) => {
        if (options.json) return printJson({ applied: migrations });
        console.log(
          migrations.length === 0 ? 'The schema is the newest.' : `Applied ${migrations.join(', ')}.`,
        );
      }),
    );
}
