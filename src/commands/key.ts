import { Command } from 'commander';
import { type Config, ConfigInvalid } from '../config.ts';
import { inspectDatabase } from '../database.ts';
import { generateKeyLine } from '../domain/key-ring.ts';
import {
  isKeyFilePending,
  keyFilePath,
  loadKeyRing,
  readKeyRing,
  registerActiveKey,
} from '../key-ring-source.ts';
import { reencryptTokens } from '../operations/database/reencrypt.ts';
import type { Inspection } from '../store/inspection.ts';
import {
  addDatabaseOptions,
  type DatabaseOptions,
  jsonOption,
  loadConfig,
  onDatabase,
  refuseNewerVersion,
  requireDatabase,
} from './option/database-option.ts';
import { printList, printResult, printSecret } from './terminal/output.ts';
import { progressBar } from './terminal/progress.ts';

export function keyCommand(): Command {
  return new Command('key')
    .summary('manage the keys that encrypt tokens at rest')
    .addCommand(generateCommand())
    .addCommand(listCommand())
    .addCommand(reencryptCommand());
}

function generateCommand(): Command {
  return new Command('generate')
    .summary('print a new line for the key ring')
    .description(
      'Prints a new line for the key ring (UGS_TOKEN_KEYS, or the file token-keys). The first line of a key ring is its active key.',
    )
    .addOption(jsonOption())
    .action((options: { json?: boolean }) => {
      const line = generateKeyLine().reveal();
      printSecret(options, { id: line.split(':')[0], line }, line);
    });
}

function listCommand(): Command {
  const command = new Command('list')
    .summary('list the keys of the key ring and of the database')
    .description(
      'Lists the ids of the keys in the key ring and in the database, never the keys themselves: which key is active, ' +
        'which keys stored tokens may be encrypted with (registered), and how many are. A registered key that the key ring ' +
        'lacks prevents the service from starting. Reads all user groups and changes nothing.',
    );
  return addDatabaseOptions(command).action(async (options: DatabaseOptions) => {
    const config = loadConfig(options);
    requireDatabase(config.databaseUrl);
    const keys = await inspectDatabase(config, (inspection) => listKeys(config, inspection));
    await printList(options, [keys], (key) => key, {
      KEY: 'id',
      RING: ({ active, in_ring }) => (active ? 'active' : in_ring ? 'yes' : 'missing'),
      REGISTERED: ({ registered }) => (registered ? 'yes' : 'no'),
      TOKENS: 'tokens',
    });
  });
}

async function listKeys(config: Config, inspection: Inspection) {
  const isInitialized = await inspection.isInitialized();
  const registered = isInitialized ? await inspection.registeredKeyIds() : [];
  const tokens = isInitialized ? await inspection.countTokens() : new Map<string, number>();
  if (isKeyFilePending(config, [...registered, ...tokens.keys()]))
    throw new ConfigInvalid(
      `the key file ${keyFilePath(config)} does not exist yet: the first start creates it`,
    );
  const keyRing = readKeyRing(config);
  const ids = new Set([...keyRing.keyIds, ...registered, ...tokens.keys()]);
  return Array.from(ids, (id) => ({
    id,
    in_ring: keyRing.keyIds.includes(id),
    active: id === keyRing.activeKeyId,
    registered: registered.includes(id),
    tokens: tokens.get(id) ?? 0,
  }));
}

function reencryptCommand(): Command {
  const command = new Command('reencrypt')
    .summary('re-encrypt all tokens with the active key')
    .description(
      'Re-encrypts every stored token that is not encrypted with the active key; the tokens themselves do not change. ' +
        'Reencrypt can run while the service is running, and can be interrupted and run again. First restart every process ' +
        'with the new key as the first line of its key ring.',
    );
  return onDatabase(command, async (database, options: DatabaseOptions) => {
    refuseNewerVersion(database);
    const { store } = database;
    const keyRing = await loadKeyRing(database.config, store);
    await registerActiveKey(keyRing, store, Date.now());
    using bar = progressBar('user groups', await store.read({ kind: 'countRows', table: 'user_groups' }));
    const { seen, reencrypted } = await reencryptTokens({ store, keyRing }, (count) => bar.show(count));
    bar.end();
    const { activeKeyId } = keyRing;
    printResult(
      options,
      { seen, resealed: reencrypted, active_key: activeKeyId },
      `Re-encrypted ${reencrypted} of ${seen} tokens; all are now encrypted with key ${activeKeyId}.`,
    );
  });
}
