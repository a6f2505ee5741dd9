import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type App, startApp } from '../app.ts';
import { ConfigInvalid, readConfig } from '../config.ts';
import { Secret } from '../domain/secret.ts';
import { digestOfApiToken } from '../domain/token.ts';
import { createLog } from '../log.ts';
import { createApiToken } from '../operations/api-token.ts';
import { authenticate } from '../operations/authenticate.ts';
import { Problem } from '../problem.ts';
import { replaceSecretFile } from '../token-keys.ts';
import { explainFile } from './file-error.ts';
import { serveUntilSignal } from './serving.ts';

interface StartOptions {
  data: string;
  host?: string;
  port?: string;
  logLevel?: string;
}

export function startCommand(): Command {
  return new Command('start')
    .summary('try it: everything made and running with one command')
    .description(
      'The quick start. Makes what is missing in the data directory (the database, a key file, a workspace ' +
        '"default" with a read-write API token), serves it, and shows a request to try. DATABASE_URL is not used: ' +
        'serve is for that.',
    )
    .addOption(new Option('--data <directory>', 'where everything is kept').default('data'))
    .addOption(new Option('--host <address>', 'address to listen on (HOST; default: 127.0.0.1)'))
    .addOption(new Option('--port <port>', 'port to listen on (PORT; default: 8080)'))
    .addOption(new Option('--log-level <level>', 'least level that is logged (LOG_LEVEL; default: info)'))
    .action(async ({ data, ...flags }: StartOptions) => {
      const path = join(data, 'user-groups.db');
      const isNew = !existsSync(path);
      const config = readConfig(process.env, { ...flags, databaseUrl: `sqlite:${path}` });
      const log = await createLog(config);
      const announce = async (app: App): Promise<void> => {
        const file = join(data, 'api-token');
        const token = await quickStartToken(app, file).catch((error) =>
          explainFile(error, (message) => new ConfigInvalid(`${file} cannot be used: ${message}`)),
        );
        printWelcome(app, isNew, data, token);
      };
      await serveUntilSignal(log, (signal) => startApp(config, log, Date.now, signal), announce);
    });
}

interface QuickStartToken {
  token: Secret;
  file: string;
  isNew: boolean;
}

/** The API token in the file where it still works, else a new one. */
async function quickStartToken(app: App, file: string): Promise<QuickStartToken> {
  const stored = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (await works(app, stored)) return { token: new Secret(stored), file, isNew: false };
  const { token } = await createApiToken(app.context, {
    workspaceName: 'default',
    environment: 'Customer',
    permission: 'read-write',
    name: 'quick start',
    expiresAt: null,
  });
  replaceSecretFile(file, token);
  return { token, file, isNew: true };
}

async function works({ context }: App, text: string): Promise<boolean> {
  try {
    return (await authenticate(context, digestOfApiToken(text))).permission === 'read-write';
  } catch (error) {
    if (error instanceof Problem && error.code === 'unauthenticated') return false;
    throw error;
  }
}

/** A line on a database that is named for the other commands. */
function unusedSetting(data: string): string {
  const name = ['DATABASE_URL', 'DATABASE_URL_FILE'].find((each) => process.env[each]);
  return name ? `${name} is set and not used: start keeps everything in ${data}/, serve uses it.\n` : '';
}

function printWelcome(
  { url }: App,
  isNew: boolean,
  data: string,
  { token, file, isNew: isNewToken }: QuickStartToken,
): void {
  const found = isNew
    ? `Made the database in ${data}/.`
    : `Found the database in ${data}/: the same groups and tokens as before.`;
  console.log(`
User Group Service
${found} ${isNewToken ? 'Made an API token' : 'The API token is the same as before'} (kept in ${file}).
${unusedSetting(data)}
  Address    ${url}
  API token  ${token.reveal()}

Try it:

  curl -X GET ${url}/api/user \\
    -H 'Authorization: Token ${token.reveal()}' \\
    -H 'Content-Type: application/json' \\
    -d '{"user_group_id": "customer-1", "name": "Acme"}'

Ctrl-C ends it. "npx user-group-service --help" shows what else there is.
`);
}
