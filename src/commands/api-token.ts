import { Command, InvalidArgumentError, Option } from 'commander';
import { operator, permissions, statusOf } from '../domain/api-token.ts';
import {
  apiTokenPages,
  createApiToken,
  findApiTokenById,
  type NewApiToken,
  revokeApiToken,
} from '../operations/api-token.ts';
import type { EventContext } from '../operations/event.ts';
import type { ApiTokenRow } from '../store/port.ts';
import { commandContext } from './command-context.ts';
import {
  type DatabaseOptions,
  databaseOption,
  jsonOption,
  withDatabase,
  withExistingDatabase,
} from './database-option.ts';
import { parseDuration } from './duration.ts';
import { NotFound } from './exit-code.ts';
import { formatInstant, printJson, printJsonPages, printTablePages } from './output.ts';
import {
  createWorkspaceOption,
  environmentOption,
  type NewWorkspaceOptions,
  parseName,
  refuseUnknownWorkspace,
  workspaceOption,
} from './workspace-option.ts';

type CreateOptions = DatabaseOptions &
  NewWorkspaceOptions &
  Pick<NewApiToken, 'permission'> & { name?: string; expires?: number };

export function apiTokenCommand(): Command {
  return new Command('api-token')
    .summary('create, list and revoke the API tokens that callers authenticate with')
    .description(
      'API tokens authenticate requests. These commands can run while the service is running; changes take effect with ' +
        'its next request.',
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return new Command('create')
    .summary('create an API token; it is shown only once')
    .description(
      'Creates an API token. The token is shown once; only its digest is stored. The first workspace of an installation ' +
        'is created together with its first API token; further workspaces require --create-workspace, because an unknown ' +
        'name may be a typo.',
    )
    .addOption(workspaceOption('workspace that the token belongs to'))
    .addOption(createWorkspaceOption())
    .addOption(environmentOption('environment that the token can access'))
    .addOption(
      new Option('--permission <permission>', 'what the token permits')
        .choices(permissions)
        .default('read-write'),
    )
    .addOption(
      new Option(
        '--expires <duration>',
        'lifetime of the token, such as 12h, 90d or 1y (default: never expires)',
      ).argParser((text) => parseDuration(text, '100y')),
    )
    .addOption(new Option('--name <name>', 'label of the token in "api-token list"').argParser(parseName))
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: CreateOptions) =>
      withDatabase(options, ({ store }, config) => create(commandContext(store, config), options)),
    );
}

async function create(context: EventContext, options: CreateOptions): Promise<void> {
  const { workspace, environment, permission, name = null, expires } = options;
  await refuseUnknownWorkspace(context.store, options);
  const expiresAt = expires === undefined ? null : Date.now() + expires;
  const fields = { workspaceName: workspace, environment, permission, name, expiresAt };
  const { apiToken, token, workspaceCreated } = await createApiToken(context, fields);
  if (workspaceCreated) console.error(`Created workspace ${workspace}.`);
  if (options.json) {
    printJson({
      id: apiToken.apiTokenId,
      token: token.reveal(),
      workspace,
      environment,
      permission,
      name,
      expires_at: expiresAt === null ? null : formatInstant(expiresAt),
    });
    return;
  }
  console.log(
    `Created API token ${apiToken.apiTokenId} (${permission}, ${workspace}, ${environment}). It is shown only once:\n\n${token.reveal()}`,
  );
}

function listCommand(): Command {
  return new Command('list')
    .summary('list the API tokens, without the tokens themselves')
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }) => {
        const pages = apiTokenPages(store);
        if (options.json) return printJsonPages(pages, toJson);
        return printTablePages(
          ['ID', 'WORKSPACE', 'ENVIRONMENT', 'PERMISSION', 'STATUS', 'CREATED', 'EXPIRES', 'NAME'],
          pages,
          toRow,
        );
      }),
    );
}

function toRow(token: ApiTokenRow): string[] {
  return [
    String(token.apiTokenId),
    token.workspaceName,
    token.environment,
    token.permission,
    statusOf(token, Date.now()),
    formatInstant(token.createdAt),
    formatInstant(token.expiresAt),
    token.name ?? '-',
  ];
}

function toJson(token: ApiTokenRow): object {
  const instant = (ms: number | null) => (ms === null ? null : formatInstant(ms));
  return {
    id: token.apiTokenId,
    workspace: token.workspaceName,
    environment: token.environment,
    permission: token.permission,
    name: token.name,
    status: statusOf(token, Date.now()),
    created_at: instant(token.createdAt),
    expires_at: instant(token.expiresAt),
    revoked_at: instant(token.revokedAt),
  };
}

function revokeCommand(): Command {
  return new Command('revoke')
    .summary('revoke an API token, effective with the next request')
    .argument('<id>', 'id of the API token, as shown by "api-token list"', parseId)
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((id: number, options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }, config) => {
        const apiToken = await findApiTokenById(store, id);
        if (apiToken === null)
          throw new NotFound(`API token ${id} does not exist; run "api-token list" to see the API tokens`);
        const caller = operator(apiToken.workspaceId, apiToken.environment);
        await revokeApiToken(commandContext(store, config), caller, apiToken);
        if (options.json) printJson({ id, status: 'revoked' });
        else console.log(`Revoked API token ${id}.`);
      }),
    );
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be an id, a number shown by "api-token list".');
  return Number(text);
}
