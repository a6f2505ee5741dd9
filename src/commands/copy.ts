import { resolve } from 'node:path';
import { Command } from 'commander';
import { type Config, type DatabaseUrl, readConfig, readSetting, settings, variableText } from '../config.ts';
import { openExclusively } from '../database.ts';
import { keyFilePath, loadKeyRing } from '../key-ring-source.ts';
import { copyDatabase, type TableReport } from '../operations/database/copy.ts';
import { UsageError } from './exit-code.ts';
import { jsonOption, refuseNewerVersion, requireDatabase } from './option/database-option.ts';
import { printJson, printTable } from './terminal/output.ts';
import { type ProgressBar, progressBar } from './terminal/progress.ts';

interface CopyOptions {
  from?: string;
  to?: string;
  json?: boolean;
}

const source = { ...settings.databaseUrl, env: 'SOURCE_DATABASE_URL', flag: '--from <url>', fallback: '' };
const target = { ...settings.databaseUrl, env: 'TARGET_DATABASE_URL', flag: '--to <url>', fallback: '' };

export function copyCommand(): Command {
  const command = new Command('copy')
    .summary('copy all data to another database, such as from SQLite to PostgreSQL')
    .description(
      'Copies workspaces, API tokens, user groups with their tokens, documents, events, webhook deliveries and usage to an empty ' +
        'database, then verifies that source and target are identical. All tokens keep working. If the copy is interrupted, run it again: it resumes where ' +
        'it stopped.' +
        '\n\nStop every process that serves either database first, or changes are lost. A SQLite file in use by a serving ' +
        'process is refused; processes that serve a PostgreSQL database cannot be detected.' +
        '\n\nTokens are copied in encrypted form. The target therefore needs the key ring of the source, and so does copy: ' +
        'UGS_TOKEN_KEYS, UGS_TOKEN_KEYS_FILE, or the file token-keys next to a SQLite source.',
    );
  for (const setting of [source, target]) {
    const meaning = `sqlite:PATH, or postgres://… without a password (environment: ${variableText(setting)})`;
    command.option(setting.flag, meaning);
  }
  return command.addOption(jsonOption()).action(copy);
}

async function copy({ json, ...flags }: CopyOptions): Promise<void> {
  const config = readConfig(process.env);
  const from = { ...config, databaseUrl: readUrl(source, flags.from) };
  const to = { ...config, databaseUrl: readUrl(target, flags.to) };
  refuseInvalidPair(from.databaseUrl, to.databaseUrl);
  const copied = await copyBetween(from, to);
  if (json)
    printJson(Object.fromEntries(Array.from(copied, ([name, { rows: _, ...report }]) => [name, report])));
  else print(copied, from);
}

async function copyBetween(fromConfig: Config, toConfig: Config): Promise<Map<string, TableReport>> {
  await using from = await openExclusively(fromConfig);
  refuseNewerVersion(from);
  await using to = await openExclusively(toConfig);
  refuseNewerVersion(to);
  const keyRing = await loadKeyRing(fromConfig, from.store);
  const job = { from: from.store, to: to.store, keyRing, now: Date.now() };
  const shown: { bar?: ProgressBar } = {};
  try {
    return await copyDatabase(job, (step, total) => {
      shown.bar?.end();
      // A step without rows would draw its end.
      const bar = progressBar(`rows ${step}`, total === 0 ? null : total);
      shown.bar = bar;
      return bar.add;
    });
  } finally {
    shown.bar?.end();
  }
}

function readUrl(setting: typeof source | typeof target, flag: string | undefined): DatabaseUrl {
  const { env } = setting;
  if (flag === undefined && !process.env[env] && !process.env[`${env}_FILE`]) {
    throw new UsageError(`${setting.flag} is required, because neither ${env} nor ${env}_FILE is set`);
  }
  return readSetting(setting, process.env, flag);
}

function refuseInvalidPair(from: DatabaseUrl, to: DatabaseUrl): void {
  requireDatabase(from);
  const [fromAddress, toAddress] = [from, to].map((url) =>
    url.engine === 'sqlite' ? resolve(url.path) : url.url.reveal(),
  );
  if (fromAddress === toAddress) throw new UsageError('the source and the target are the same database');
}

function print(reports: ReadonlyMap<string, TableReport>, from: Config): void {
  const lines = Array.from(reports.values(), ({ rows, count, copied, digest }) => [
    rows,
    String(count),
    String(copied),
    digest,
  ]);
  printTable(['', 'ROWS', 'COPIED NOW', 'SHA-256 OF SOURCE AND TARGET'], lines);
  const keyFile = keyFilePath(from);
  const ring = keyFile === null ? 'the same UGS_TOKEN_KEYS' : `UGS_TOKEN_KEYS_FILE=${keyFile}`;
  console.log(`\nServe the target with ${ring}, and stop serving the source.`);
}
