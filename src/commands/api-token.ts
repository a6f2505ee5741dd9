import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type ApiToken,
  apiTokenStatus,
  operator,
  permissions,
  previousTextUntil,
} from '../domain/api-token.ts';
import { timestampOrNull } from '../domain/instant.ts';
import { mintApiToken } from '../domain/token.ts';
import {
  apiTokenPages,
  createApiToken,
  findApiTokenById,
  type NewApiToken,
  revokeApiToken,
  rotateApiToken,
} from '../operations/api-token/api-token.ts';
import type { EventContext } from '../operations/event/event.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { ApiTokenRow } from '../store/port.ts';
import { commandContext } from './command-context.ts';
import { DataError, NotFound } from './exit-code.ts';
import {
  addDatabaseOptions,
  type DatabaseOptions,
  jsonOption,
  type OpenDatabase,
  onDatabase,
  withDatabase,
} from './option/database-option.ts';
import { parseDuration, parseGracePeriod } from './option/duration.ts';
import {
  createWorkspaceOption,
  environmentOption,
  type NewWorkspaceOptions,
  parseName,
  refuseUnknownWorkspace,
  workspaceOption,
} from './option/workspace-option.ts';
import { printList, printResult, printSecret } from './terminal/output.ts';

type CreateOptions = DatabaseOptions &
  NewWorkspaceOptions &
  Pick<NewApiToken, 'permission'> & { name?: string; expires?: number };

export function apiTokenCommand(): Command {
  return new Command('api-token')
    .summary('create, list, rotate and revoke the API tokens that callers authenticate with')
    .description(
      'API tokens authenticate requests. These commands can run while the service is running; changes take effect with ' +
        'its next request.',
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(rotateCommand())
    .addCommand(revokeCommand())
    .addCommand(generateCommand());
}

function createCommand(): Command {
  const command = new Command('create')
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
    .option(
      '--expires <duration>',
      'lifetime of the token, such as 12h, 90d or 1y (default: never expires)',
      (text) => parseDuration(text, '100y'),
    )
    .option('--name <name>', 'label of the token in "api-token list"', parseName);
  return addDatabaseOptions(command).action((options: CreateOptions) =>
    withDatabase(options, (database) => create(commandContext(database), options)),
  );
}

async function create(context: EventContext, options: CreateOptions): Promise<void> {
  const { workspace, environment, permission, name = null, expires } = options;
  await refuseUnknownWorkspace(context.store, options);
  const expiresAt = expires === undefined ? null : Date.now() + expires;
  const fields = { workspaceName: workspace, environment, permission, name, expiresAt };
  const { apiToken, token, workspaceCreated } = await createApiToken(context, fields);
  if (workspaceCreated) console.error(`Created workspace ${workspace}.`);
  const { apiTokenId: id } = apiToken;
  const text = token.reveal();
  printSecret(
    options,
    { id, token: text, workspace, environment, permission, name, expires_at: timestampOrNull(expiresAt) },
    `Created API token ${id} (${permission}, ${workspace}, ${environment}). It is shown only once:\n\n${text}`,
  );
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list the API tokens, without the tokens themselves')
    .description(
      'Lists all API tokens with the hour of their last use; a serving process writes it within a few seconds.',
    );
  return onDatabase(command, ({ store }, options: DatabaseOptions) =>
    printList(options, apiTokenPages(store), listedFields, {
      ID: 'id',
      WORKSPACE: 'workspace',
      ENVIRONMENT: 'environment',
      PERMISSION: 'permission',
      STATUS: 'status',
      CREATED: 'created_at',
      EXPIRES: 'expires_at',
      'LAST USED': 'last_used_at',
      NAME: 'name',
    }),
  );
}

function listedFields(token: ApiTokenRow) {
  const now = Date.now();
  return {
    id: token.apiTokenId,
    workspace: token.workspaceName,
    environment: token.environment,
    permission: token.permission,
    name: token.name,
    status: apiTokenStatus(token, now),
    created_at: timestampOrNull(token.createdAt),
    expires_at: timestampOrNull(token.expiresAt),
    revoked_at: timestampOrNull(token.revokedAt),
    last_used_at: timestampOrNull(token.lastUsedAt),
    previous_token_expires_at: timestampOrNull(previousTextUntil(token, now)),
  };
}

type RotateOptions = DatabaseOptions & { gracePeriod: number };

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('give an API token a new text; it is shown only once')
    .description(
      'Replaces the text of an API token; its id, name, permission and expiry stay. Without --grace-period the replaced ' +
        'text is rejected from the next request on. A text that an earlier rotation replaced is rejected in either case.',
    )
    .argument('<id>', 'id of the API token, as shown by "api-token list"', parseId)
    .addOption(
      new Option(
        '--grace-period <duration>',
        'how long the replaced text still works, such as 1h or 7d, at most 30d; 0 for not at all',
      )
        .argParser(parseGracePeriod)
        .default(0, 'not at all'),
    );
  return onDatabase(command, rotate);
}

async function rotate(database: OpenDatabase, options: RotateOptions, id: number): Promise<void> {
  const context = commandContext(database);
  const stored = await existing(context.store, id);
  const status = apiTokenStatus(stored, context.clock());
  if (status !== 'active') throw new DataError(`API token ${id} is ${status}; create a new one`);
  const seconds = options.gracePeriod / 1_000;
  const { apiToken, token } = await rotateApiToken(context, operator(stored), id, seconds);
  const until = timestampOrNull(apiToken.previousExpiresAt);
  const replaced =
    until === null ? 'The replaced text is rejected from now on' : `The replaced text works until ${until}`;
  printSecret(
    options,
    { id, token: token.reveal(), previous_token_expires_at: until },
    `Rotated API token ${id}. ${replaced}. The new text is shown only once:\n\n${token.reveal()}`,
  );
}

function revokeCommand(): Command {
  const command = new Command('revoke')
    .summary('revoke an API token, effective with the next request')
    .argument('<id>', 'id of the API token, as shown by "api-token list"', parseId);
  return onDatabase(command, async (database, options: DatabaseOptions, id: number) => {
    const caller = operator(await existing(database.store, id));
    await revokeApiToken(commandContext(database), caller, id);
    printResult(options, { id, status: 'revoked' }, `Revoked API token ${id}.`);
  });
}

async function existing(store: BatchingStore, id: number): Promise<ApiToken> {
  const apiToken = await findApiTokenById(store, id);
  if (apiToken !== null) return apiToken;
  throw new NotFound(`API token ${id} does not exist; run "api-token list" to see the API tokens`);
}

function generateCommand(): Command {
  return new Command('generate')
    .summary('print the text of an API token for UGS_BOOTSTRAP_API_TOKEN')
    .description(
      'Prints a new text in the format of an API token, without access to a database. The service makes the text in ' +
        'UGS_BOOTSTRAP_API_TOKEN an API token when it starts.',
    )
    .addOption(jsonOption())
    .action((options: { json?: boolean }) => {
      const token = mintApiToken().reveal();
      printSecret(options, { token }, token);
    });
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be an id, a number shown by "api-token list".');
  return Number(text);
}
