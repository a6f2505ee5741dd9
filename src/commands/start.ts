import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { App } from '../app.ts';
import { ConfigInvalid, type Flags, NOT_IN_PATH, readConfig, settings } from '../config.ts';
import { type Caller, operator, type Permission } from '../domain/api-token.ts';
import { Secret } from '../domain/secret.ts';
import { digestOfApiToken } from '../domain/token.ts';
import { replaceSecretFile } from '../key-ring-source.ts';
import { createLog } from '../log.ts';
import { issueApiToken } from '../operations/api-token/api-token.ts';
import { findActiveApiToken } from '../operations/api-token/authenticate.ts';
import type { Context } from '../operations/context.ts';
import type { EventContext } from '../operations/event/event.ts';
import { ensureWorkspace } from '../operations/workspace/workspace.ts';
import { Problem } from '../problem.ts';
import { runsInClone } from '../system/program-file.ts';
import { explainFileError } from './exit-code.ts';
import { serveUntilSignal } from './run-until-signal.ts';
import { addSetting } from './serve.ts';

const COMMAND_LINE = { via: 'command_line', requestId: null } as const;

type StartOptions = Flags & { data: string; demo?: true };

export function startCommand(): Command {
  const command = new Command('start')
    .summary('quick start: set up and run the service with one command')
    .description(
      'Quick start. Creates what is missing in the data directory (database, key file, and a workspace "default" with a ' +
        'read-write and an admin API token), runs the service and prints an example request. Ignores DATABASE_URL; use ' +
        'serve to connect to another database.',
    )
    .option('--data <directory>', 'directory for all data', parseDirectory, 'data')
    .option('--demo', 'create demo data: customers, a catalogue and a sample dashboard');
  for (const setting of [settings.host, settings.port, settings.logLevel]) addSetting(command, setting);
  return command.action(start);
}

/** Refuses what the path of a database cannot contain, before the error names the URL that is made of it. */
function parseDirectory(text: string): string {
  // `join` removes a leading "./".
  const paths = [text, databaseIn(text)];
  if (!paths.some((path) => /^\s/.test(path) || NOT_IN_PATH.test(path))) return text;
  throw new InvalidArgumentError(
    'It must be a path without "?", and without white space, a quote, "~" or "$" at its start or after "./".',
  );
}

function databaseIn(data: string): string {
  return join(data, 'user-groups.db');
}

async function start({ data, demo: createsDemo, ...flags }: StartOptions): Promise<void> {
  const path = databaseIn(data);
  const isNew = !existsSync(path);
  const config = readConfig(process.env, { ...flags, databaseUrl: `sqlite:${path}` });
  const log = await createLog(config);
  let tokens: Pick<Welcome, 'token' | 'admin'> | undefined;
  const prepare = async (context: Context): Promise<void> => {
    const stored = readToken(join(data, 'api-token'));
    const storedAdmin = readToken(join(data, 'admin-token'));
    const token = await ensureToken(context, [stored, storedAdmin], 'read-write');
    tokens = { token, admin: await ensureToken(context, [storedAdmin, stored], 'admin') };
  };
  const announce = async (app: App): Promise<void> => {
    const { token, admin } = tokens!;
    const demo = createsDemo ? await createDemoData(app, admin.caller) : null;
    printWelcome(app, { isNew, data: dirname(path), token, admin, demo });
  };
  await serveUntilSignal(log, config, announce, prepare);
}

interface QuickStartToken {
  token: Secret;
  file: string;
  isNew: boolean;
  /** The operator of its environment. */
  caller: Caller;
}

/** Creates the demo. Returns the path of the page that shows it. */
async function createDemoData({ context, demoDirectory }: App, caller: Caller): Promise<string> {
  // Imported on demand, like the HTTP server.
  const { createDemoPatiently, DEMO_PATH } = await import('../demo/create.ts');
  try {
    await createDemoPatiently({ ...context, origin: COMMAND_LINE }, caller, demoDirectory!);
    return DEMO_PATH;
  } catch (error) {
    const explain = (message: string) => new ConfigInvalid(`cannot create the demo data: ${message}`);
    throw error instanceof Problem ? explain(error.message) : explainFileError(error, explain);
  }
}

interface TokenFile {
  file: string;
  /** Empty without a file. */
  text: string;
}

function readToken(file: string): TokenFile {
  try {
    return { file, text: existsSync(file) ? readFileSync(file, 'utf8').trim() : '' };
  } catch (error) {
    return refuseFile(error, file);
  }
}

function refuseFile(error: unknown, file: string): never {
  explainFileError(error, (message) => new ConfigInvalid(`cannot use ${file}: ${message}`));
}

/** Returns the API token in the first file if it is still valid, otherwise a new one in the workspace of either. */
async function ensureToken(
  context: Context,
  [{ file, text }, other]: readonly [TokenFile, TokenFile],
  permission: Permission,
): Promise<QuickStartToken> {
  const active = await findActiveApiToken(context, digestOfApiToken(text));
  if (active?.permission === permission)
    return { token: new Secret(text), file, isNew: false, caller: operator(active) };
  const eventContext: EventContext = { ...context, origin: COMMAND_LINE };
  const name = permission === 'admin' ? 'quick start, admin' : 'quick start';
  const workspaceId = await findQuickStartWorkspace(context, [text, other.text]);
  const caller = operator({ workspaceId, environment: 'Customer' });
  const { token } = await issueApiToken(eventContext, caller, { permission, name });
  try {
    replaceSecretFile(file, token);
  } catch (error) {
    refuseFile(error, file);
  }
  return { token, file, isNew: true, caller };
}

/** Returns the workspace of the stored API tokens, even revoked ones; without them the only one, or `default`. */
async function findQuickStartWorkspace({ store, clock }: Context, texts: readonly string[]): Promise<number> {
  for (const digest of texts.map(digestOfApiToken)) {
    const found = digest && (await store.read({ kind: 'findApiToken', digest }));
    if (found) return found.workspaceId;
  }
  const [first, another] = await store.read({ kind: 'listWorkspaces', after: null, limit: 2 });
  if (first !== undefined && another === undefined) return first.workspaceId;
  return (await ensureWorkspace(store, 'default', clock())).workspace.workspaceId;
}

/** Says that a database, which is set for other commands, is ignored. */
function ignoredSettingNotice(data: string): string {
  const name = ['DATABASE_URL', 'DATABASE_URL_FILE'].find((each) => process.env[each]);
  return name ? `${name} is set but ignored: start keeps all data in ${data}/. Use serve for ${name}.\n` : '';
}

interface Welcome {
  isNew: boolean;
  data: string;
  token: QuickStartToken;
  admin: QuickStartToken;
  /** The page of the console that shows the demo; null without one. */
  demo: string | null;
}

function printWelcome({ url }: App, { isNew, data, token, admin, demo }: Welcome): void {
  const database = isNew
    ? `Created a new database in ${data}/.`
    : `Using the existing database in ${data}/ with its user groups and tokens.`;
  const apiToken = token.isNew ? 'Created an API token' : 'Using the existing API token';
  console.log(`
User Group Service
${database} ${apiToken} (stored in ${token.file}).
${ignoredSettingNotice(data)}
  Address    ${url}
  Console    ${url}/console
  API token  ${token.token.reveal()}
  Admin      an API token for administration is stored in ${admin.file}: sign in to the console with it
${demo === null ? '' : `  Demo       ${url}${demo}\n`}
Try it:

  curl -X GET ${url}/api/user \\
    -H 'Authorization: Token ${token.token.reveal()}' \\
    -H 'Content-Type: application/json' \\
    -d '{"user_group_id": "customer-1", "name": "Acme"}'

Press Ctrl-C to stop. Run "${runsInClone() ? 'npx --no-install ' : ''}user-group-service --help" to see the other commands.
`);
}
