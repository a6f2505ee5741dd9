import { Command } from 'commander';
import {
  allSettings,
  type Config,
  ConfigInvalid,
  refuseSharedAddress,
  servingThreads,
  variableNames,
} from '../../config.ts';
import { redact, Secret } from '../../domain/secret.ts';
import { readSecretFile } from '../../system/secret-file.ts';
import { DataError, explainFileError, UsageError } from '../exit-code.ts';
import { type DatabaseOptions, databaseOption, jsonOption, loadConfig } from '../option/database-option.ts';
import { parseServiceUrl } from '../service-client.ts';
import { printJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/terminal-text.ts';
import { type Check, type CheckResult, failed, ok } from './check.ts';
import { checkDatabase } from './database-checks.ts';
import { readEnvironmentFile } from './environment-file.ts';
import { checkMachine } from './machine-checks.ts';
import { checkProxy } from './proxy-checks.ts';

interface DoctorOptions extends DatabaseOptions {
  url?: string;
  apiTokenFile?: string;
  environmentFile?: string;
  pid?: number;
}

const NAME_WIDTH = 21;

export function doctorCommand(): Command {
  return new Command('doctor')
    .summary('check a deployment and say what to do about each failed check')
    .description(
      'Checks the settings, the database and its schema, privileges, the key ring, the clock, file permissions, disk space ' +
        'and the limit of open files; with --url also the proxy in front. Prints one line per check: ok, warning, failed or ' +
        'skipped. Changes nothing; the schema is not migrated. Run it with the settings of the service, as its user; --environment-file ' +
        'reads them from the file of a systemd unit.',
    )
    .addOption(databaseOption())
    .option(
      '--environment-file <file>',
      'file with settings as for EnvironmentFile= of systemd, which replace those of the environment',
    )
    .option('--pid <pid>', 'process id of the running service, to check its limits', parsePid)
    .option('--url <url>', 'URL that callers use; also checks what is between them and the service')
    .option(
      '--api-token-file <file>',
      'file with an API token, to check more at the URL; only reads are made',
    )
    .addOption(jsonOption())
    .action(runDoctor);
}

async function runDoctor(options: DoctorOptions): Promise<void> {
  const url = options.url === undefined ? null : parseServiceUrl(options.url);
  const apiToken = readApiToken(options);
  if (options.environmentFile !== undefined)
    Object.assign(process.env, readEnvironmentFile(options.environmentFile));
  const checks: Check[] = [];
  for await (const check of runChecks(options, url, apiToken)) {
    checks.push(check);
    if (!options.json) console.log(escapeControls(redact(toLine(check))));
  }
  if (options.json) printJson(JSON.parse(redact(JSON.stringify({ checks }))));
  const failures = checks.filter(({ status }) => status === 'failed').length;
  if (failures > 0) throw new DataError(`${failures} of ${checks.length} checks failed`);
}

async function* runChecks(
  options: DoctorOptions,
  url: URL | null,
  apiToken: Secret | null,
): AsyncGenerator<Check> {
  const read = checkConfig(options);
  yield { name: 'settings', ...read.result };
  if (read.config !== null) {
    yield* await checkDatabase(read.config);
    yield* await checkMachine(read.config, options.pid ?? null);
  }
  if (url !== null) yield* await checkProxy(url, apiToken);
}

function checkConfig(options: DoctorOptions): { result: CheckResult; config: Config | null } {
  try {
    const config = loadConfig(options);
    refuseSharedAddress(config);
    const set = allSettings.flatMap(variableNames).filter((name) => process.env[name]);
    const { threads, limit } = servingThreads(config);
    const serving = `serving threads: ${threads}${limit === null ? '' : `, because ${limit}`}`;
    return { result: ok(`valid; set: ${set.join(', ') || 'none'}; ${serving}`), config };
  } catch (error) {
    if (!(error instanceof ConfigInvalid)) throw error;
    const remedy = 'correct the setting; "user-group-service serve --help" lists all of them';
    return { result: failed(error.message, remedy), config: null };
  }
}

function parsePid(text: string): number {
  if (/^(?:0|[1-9]\d{0,9})$/.test(text)) return Number(text);
  throw new UsageError('--pid must be a process id, such as that of "systemctl show --property MainPID"');
}

function readApiToken({ url, apiTokenFile }: DoctorOptions): Secret | null {
  if (apiTokenFile === undefined) return null;
  if (url === undefined) throw new UsageError('--api-token-file requires --url');
  try {
    return new Secret(readSecretFile(apiTokenFile).trim());
  } catch (error) {
    explainFileError(error, (message) => new UsageError(`--api-token-file: ${message}`));
  }
}

function toLine(check: Check): string {
  const line = `${check.status.padEnd(8)} ${check.name.padEnd(NAME_WIDTH)} ${check.message}`;
  return 'remedy' in check ? `${line}. What to do: ${check.remedy}` : line;
}
