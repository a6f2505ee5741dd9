import { Command } from 'commander';
import { type DatabaseOptions, databaseOption, jsonOption, withExistingDatabase } from './database-option.ts';
import { formatInstant, printJson, printTable } from './output.ts';

export function workspaceCommand(): Command {
  const list = new Command('list')
    .summary('list the workspaces')
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }) => {
        const workspaces = await store.read({ kind: 'listWorkspaces' });
        if (options.json) {
          return printJson(
            workspaces.map(({ name, createdAt }) => ({ name, created_at: formatInstant(createdAt) })),
          );
        }
        printTable(
          ['NAME', 'CREATED'],
          workspaces.map(({ name, createdAt }) => [name, formatInstant(createdAt)]),
        );
      }),
    );
  return new Command('workspace').summary('the accounts that API tokens belong to').addCommand(list);
}
