// Options of the commands that work on one environment, in a database or through the API of a running service.

import { type Command, Option } from 'commander';
import { type Environment, environments } from '../../domain/tenant.ts';
import { UsageError } from '../exit-code.ts';
import { type DatabaseOptions, databaseOption } from './database-option.ts';
import { parseName, type WorkspaceOptions } from './workspace-option.ts';

export interface TargetOptions extends DatabaseOptions {
  workspace?: string;
  environment?: Environment;
  url?: string;
}

/** The texts complete the help of --workspace and --environment. */
export function addTargetOptions(command: Command, workspace: string, environment: string): Command {
  return command
    .option('--workspace <name>', workspace, parseName)
    .addOption(
      new Option('--environment <environment>', `${environment} (default: Customer)`).choices(environments),
    )
    .option(
      '--url <url>',
      'URL of a running service, whose API token is in UGS_API_TOKEN; instead of a database',
    )
    .addOption(databaseOption());
}

/**
 * Returns the URL of the service, or the place in the database. Throws `UsageError` for both or neither;
 * `others` are further options that require a database.
 */
export function selectTarget(
  { url, workspace, environment, databaseUrl }: TargetOptions,
  others: Readonly<Record<string, unknown>> = {},
): { url: string } | WorkspaceOptions {
  const ofDatabase = {
    '--workspace': workspace,
    '--environment': environment,
    '--database-url': databaseUrl,
    ...others,
  };
  if (url === undefined) {
    if (workspace === undefined) throw new UsageError('add --workspace, or --url for a running service');
    return { workspace, environment: environment ?? 'Customer' };
  }
  const [excluded] = Object.entries(ofDatabase).find(([, value]) => value !== undefined) ?? [];
  if (excluded === undefined) return { url };
  throw new UsageError(`--url excludes ${excluded}: the API token determines the workspace and environment`);
}
