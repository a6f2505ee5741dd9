// Commands for configuration as code. Their work is imported on demand, because the help of all commands loads this file.

import { Command, Option } from 'commander';
import { outputArgument } from '../create-file.ts';
import { jsonOption } from '../option/database-option.ts';
import { addTargetOptions } from '../option/target-option.ts';
import type { ApplyOptions, ExportOptions } from './config-run.ts';

const formats: readonly NonNullable<ExportOptions['format']>[] = ['yaml', 'json'];

export function configCommand(): Command {
  return new Command('config')
    .summary('export, plan and apply the configuration of an environment')
    .description(
      'The configuration of a workspace and environment is everything but its user groups and API tokens: schemas, data ' +
        'sources, the mapping policy, the property schema, integrations and webhook endpoints. It can be kept as a YAML or ' +
        'JSON file under version control.' +
        '\n\nThese commands use the database, or with --url a running service and the API token in UGS_API_TOKEN.',
    )
    .addCommand(exportCommand())
    .addCommand(planCommand())
    .addCommand(applyCommand());
}

function exportCommand(): Command {
  const command = new Command('export')
    .summary('write the configuration')
    .description(
      'Writes the whole configuration, sorted by id. Secrets are not part of it: the secret of an integration is a ' +
        'reference to an environment variable, such as {environment: INTEGRATION_METABASE_SECRET}, which has to contain ' +
        'it when the file is applied.',
    )
    .addArgument(outputArgument())
    .addOption(
      new Option(
        '--format <format>',
        'format of the file; json if its name ends in .json, otherwise yaml',
      ).choices(formats),
    );
  return withTarget(command).action(async (file: string | undefined, options: ExportOptions) =>
    (await import('./config-run.ts')).exportConfig(file, options),
  );
}

function planCommand(): Command {
  const command = new Command('plan')
    .summary('show what apply would change')
    .description(
      'Prints the difference between the stored configuration and the file. The exit code is 0 if there is none, 2 if ' +
        'there is one, and 65 if the file would be refused.',
    );
  return withFile(command).action(async (file: string, options: ApplyOptions) =>
    (await import('./config-run.ts')).planConfig(file, options),
  );
}

function applyCommand(): Command {
  const command = new Command('apply')
    .summary('make the stored configuration equal to the file')
    .description(
      'Prints the difference as plan does, and applies it in one transaction: all changes or none. It is refused if the ' +
        'configuration has changed since the plan. Sections that the file does not have stay, and so do entries that it ' +
        'does not have, unless --prune is set. Applying the same file again changes nothing.' +
        '\n\nA new webhook endpoint gets a secret, which is not shown: rotate it over HTTP or in the console to see one.',
    );
  return withFile(command).action(async (file: string, options: ApplyOptions) =>
    (await import('./config-run.ts')).applyConfig(file, options),
  );
}

function withFile(command: Command): Command {
  command
    .argument('<file>', 'YAML or JSON file of the configuration, or - for standard input')
    .option('--prune', 'delete entries that a section of the file does not have');
  return withTarget(command).addOption(jsonOption());
}

function withTarget(command: Command): Command {
  return addTargetOptions(command, 'workspace of the configuration', 'environment of the configuration');
}
