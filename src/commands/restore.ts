import { Command } from 'commander';
import type { Config } from '../config.ts';
import { loadSqlite } from '../database.ts';
import { readKeyRing } from '../key-ring-source.ts';
import { decryptSample } from '../operations/database/decrypt-sample.ts';
import type { Inspection } from '../store/inspection.ts';
import { NotFound, UsageError } from './exit-code.ts';
import { addDatabaseOptions, type DatabaseOptions, isMissing, loadConfig } from './option/database-option.ts';
import { counted, printResult } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';

const TOKENS_PER_KEY = 100;
const MEGABYTE = 1_000_000;

export function restoreCommand(): Command {
  const command = new Command('restore')
    .summary('restore a SQLite database from a backup')
    .description(
      'Copies a backup to the path of the database, where no database may exist and none may be served. First checks the ' +
        'copy: that it is an intact database of this service, that this version can serve it, and that the key ring has ' +
        `every key and decrypts up to ${TOKENS_PER_KEY} tokens of each. The database appears at its path only if all ` +
        'checks pass. Use pg_restore for a PostgreSQL database.',
    )
    .argument('<file>', 'backup to restore');
  return addDatabaseOptions(command).action(runRestore);
}

async function runRestore(file: string, options: DatabaseOptions): Promise<void> {
  const config = loadConfig(options);
  const { databaseUrl } = config;
  if (databaseUrl.engine !== 'sqlite')
    throw new UsageError('restore supports only SQLite; use pg_restore for PostgreSQL');
  if (isMissing(file)) throw new NotFound(`backup ${file} does not exist`);
  using bar = progressBar('MB copied');
  let userGroups = 0;
  const { restoreFile } = await loadSqlite();
  await restoreFile({
    from: file,
    to: databaseUrl.path,
    verify: async (copy) => {
      userGroups = await verifyTokens(config, copy);
    },
    onProgress: (bytes, total) => {
      bar.show(Math.ceil(bytes / MEGABYTE), Math.ceil(total / MEGABYTE));
      if (bytes === total) bar.end();
    },
  });
  const { path: database } = databaseUrl;
  const text = `Restored ${counted(userGroups, 'user group')} to ${database}. Deletions, suspensions, rotations and revocations since the backup are undone: repeat them.`;
  printResult(options, { file, database, user_groups: userGroups }, text);
}

/** Returns the number of user groups. Throws `ConfigInvalid` and `StoredTokenUnreadable`. */
async function verifyTokens(config: Config, copy: Inspection): Promise<number> {
  const tokens = await copy.countTokens();
  const keyIds = [...new Set([...(await copy.registeredKeyIds()), ...tokens.keys()])];
  if (keyIds.length > 0) {
    const keyRing = readKeyRing(config, keyIds);
    await decryptSample(copy, keyRing, { keyIds: [...tokens.keys()], limit: TOKENS_PER_KEY });
  }
  return [...tokens.values()].reduce((sum, count) => sum + count, 0);
}
