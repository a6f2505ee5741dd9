import { Command } from 'commander';
import { timestamp } from '../domain/instant.ts';
import { deleteWorkspace, renameWorkspace, workspacePages } from '../operations/workspace/workspace.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { Workspace } from '../store/port.ts';
import { DataError, UsageError } from './exit-code.ts';
import { type DatabaseOptions, onDatabase, refuseNewerVersion } from './option/database-option.ts';
import { parseName, unknownWorkspace } from './option/workspace-option.ts';
import { printList, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';

export function workspaceCommand(): Command {
  return new Command('workspace')
    .summary('list, rename and delete workspaces, which own API tokens and user groups')
    .addCommand(listCommand())
    .addCommand(renameCommand())
    .addCommand(deleteCommand());
}

function listCommand(): Command {
  const command = new Command('list').summary('list the workspaces');
  return onDatabase(command, ({ store }, options: DatabaseOptions) =>
    printList(options, workspacePages(store), listedFields, { NAME: 'name', CREATED: 'created_at' }),
  );
}

function listedFields({ name, createdAt }: Workspace) {
  return { name, created_at: timestamp(createdAt) };
}

function renameCommand(): Command {
  const command = new Command('rename')
    .summary('rename a workspace')
    .description(
      'Renames a workspace. Its API tokens and user groups do not change. Can run while the service is running.',
    )
    .argument('<name>', 'current name, as shown by "workspace list"', parseName)
    .argument('<new-name>', 'new name; must be unique', parseName);
  return onDatabase(command, async ({ store }, options: DatabaseOptions, from: string, to: string) => {
    await rename(store, from, to);
    printResult(options, { name: to, previous_name: from }, `Renamed workspace ${from} to ${to}.`);
  });
}

async function rename(store: BatchingStore, from: string, to: string): Promise<void> {
  const result = await renameWorkspace(store, from, to);
  if (result === 'not_found') throw await unknownWorkspace(store, from);
  if (result === 'name_taken') throw new UsageError(`workspace ${to} already exists; choose another name`);
}

function deleteCommand(): Command {
  const command = new Command('delete')
    .summary('delete an empty workspace')
    .description(
      'Deletes a workspace that has no user groups, together with its revoked and expired API tokens. Revoke its active ' +
        'API tokens first, then wait one minute, because requests that use them may still be in flight. Can run while the ' +
        'service is running.',
    )
    .argument('<name>', 'name of the workspace, as shown by "workspace list"', parseName);
  return onDatabase(command, async (database, options: DatabaseOptions, name: string) => {
    refuseNewerVersion(database);
    await deleteEmpty(database.store, name);
    printResult(options, { name, status: 'deleted' }, `Deleted workspace ${name}.`);
  });
}

async function deleteEmpty(store: BatchingStore, name: string): Promise<void> {
  using bar = progressBar('rows of history deleted');
  const result = await deleteWorkspace(store, name, Date.now(), bar.add);
  bar.end();
  if (result === 'not_found') throw await unknownWorkspace(store, name);
  if (result === 'has_user_groups')
    throw new DataError(`workspace ${name} is not empty: delete its user groups first`);
  if (result === 'has_api_tokens') {
    throw new DataError(
      `workspace ${name} has API tokens that are active, or that expired or were revoked less than a minute ago; revoke ` +
        'those that "api-token list" shows as active, and retry after a minute',
    );
  }
}
