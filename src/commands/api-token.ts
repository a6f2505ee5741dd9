import { Command, InvalidArgumentError, Option } from 'commander';
import { permissions, statusOf } from '../domain/api-token.ts';
import { createApiToken, type NewApiToken, revokeApiToken } from '../operations/api-token.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import type { ApiTokenRow } from '../store/store.ts';
import {
  type DatabaseOptions,
  databaseOption,
  jsonOption,
  withDatabase,
  withExistingDatabase,
} from './database-option.ts';
import { NotFound } from './exit-code.ts';
import { formatInstant, printJson, printTable } from './output.ts';
import { environmentOption, parseName, type WorkspaceOptions, workspaceOption } from './workspace-option.ts';

const PAGE = 1_000;
const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 } as const;
const LONGEST_YEARS = 100;

type CreateOptions = DatabaseOptions &
  WorkspaceOptions &
  Pick<NewApiToken, 'permission'> & { name?: string; expires?: number };

export function apiTokenCommand(): Command {
  return new Command('api-token')
    .summary('make, list and revoke the tokens that callers authenticate with')
    .description(
      'API tokens authenticate calls. These commands work while the service runs, and act from its next request on.',
    )
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}

function createCommand(): Command {
  return new Command('create')
    .summary('make an API token; it is shown once')
    .description(
      'Makes an API token, and its workspace where there is none of the name. The token is shown once and kept nowhere.',
    )
    .addOption(workspaceOption('the workspace it belongs to'))
    .addOption(environmentOption('the environment it sees'))
    .addOption(
      new Option('--permission <permission>', 'what it may do').choices(permissions).default('read-write'),
    )
    .addOption(
      new Option('--expires <time>', 'how long it works, such as 12h, 90d, 1y (default: for ever)').argParser(
        parseDuration,
      ),
    )
    .addOption(new Option('--name <name>', 'a name to know it by').argParser(parseName))
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: CreateOptions) => withDatabase(options, ({ store }) => create(store, options)));
}

async function create(store: BatchedStore, options: CreateOptions): Promise<void> {
  const { workspace, environment, permission, name = null, expires } = options;
  const expiresAt = expires === undefined ? null : Date.now() + expires;
  const fields = { workspaceName: workspace, environment, permission, name, expiresAt };
  const { apiToken, token, workspaceCreated } = await createApiToken({ store, clock: Date.now }, fields);
  if (workspaceCreated) console.error(`Made the workspace ${workspace}.`);
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
    `API token ${apiToken.apiTokenId} (${permission}, ${workspace}, ${environment}). It is shown this once:\n\n${token.reveal()}`,
  );
}

function listCommand(): Command {
  return new Command('list')
    .summary('list the API tokens, never their text')
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }) => {
        const tokens: ApiTokenRow[] = [];
        for (let after = 0; ; after = tokens.at(-1)!.apiTokenId) {
          const page = await store.read({ kind: 'listApiTokens', after, limit: PAGE });
          tokens.push(...page);
          if (page.length < PAGE) break;
        }
        if (options.json) return printJson(tokens.map(toJson));
        printTable(
          ['ID', 'WORKSPACE', 'ENVIRONMENT', 'PERMISSION', 'STATUS', 'CREATED', 'EXPIRES', 'NAME'],
          tokens.map((token) => [
            String(token.apiTokenId),
            token.workspaceName,
            token.environment,
            token.permission,
            statusOf(token, Date.now()),
            formatInstant(token.createdAt),
            formatInstant(token.expiresAt),
            token.name ?? '-',
          ]),
        );
      }),
    );
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
    .summary('end an API token, from the next request on')
    .argument('<id>', 'the id that "api-token list" shows', parseId)
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((id: number, options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }) => {
        const found = await revokeApiToken({ store, clock: Date.now }, id);
        if (!found) throw new NotFound(`there is no API token ${id}; "api-token list" shows them`);
        if (options.json) printJson({ id, status: 'revoked' });
        else console.log(`API token ${id} is revoked.`);
      }),
    );
}

function parseId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new InvalidArgumentError('It must be a number that "api-token list" shows.');
  return Number(text);
}

/** A duration in milliseconds. */
function parseDuration(text: string): number {
  const [, digits = '', unit = ''] = /^(\d{1,9})([mhdwy])$/.exec(text) ?? [];
  const ms = Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
  if (!(ms > 0 && ms <= LONGEST_YEARS * UNITS_MS.y)) {
    throw new InvalidArgumentError('It must be a number and a unit (m, h, d, w, y), such as 90d.');
  }
  return ms;
}
