import { Command } from 'commander';
import { generateKeyLine } from '../domain/key-ring.ts';
import { loadKeyRing, registerActiveKey } from '../key-ring-source.ts';
import { reencryptTokens } from '../operations/reencrypt.ts';
import { type DatabaseOptions, databaseOption, jsonOption, withExistingDatabase } from './database-option.ts';
import { printJson } from './output.ts';
import { progressBar } from './progress.ts';

export function keyCommand(): Command {
  return new Command('key')
    .summary('manage the keys that encrypt tokens at rest')
    .addCommand(generateCommand())
    .addCommand(reencryptCommand());
}

function generateCommand(): Command {
  return new Command('generate')
    .summary('print a new line for the key ring')
    .description(
      'Prints a new line for the key ring (UGS_TOKEN_KEYS, or the file token-keys). The first line of a key ring is its active key.',
    )
    .addOption(jsonOption())
    .action(({ json }: { json?: boolean }) => {
      const line = generateKeyLine().reveal();
      if (json) printJson({ id: line.split(':')[0], line });
      else console.log(line);
    });
}

function reencryptCommand(): Command {
  return new Command('reencrypt')
    .summary('re-encrypt all tokens with the active key')
    .description(
      'Re-encrypts every stored token that is not encrypted with the active key; the tokens themselves do not change. ' +
        'Reencrypt can run while the service is running, and can be interrupted and run again. First restart every process ' +
        'with the new key as the first line of its key ring.',
    )
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }, config) => {
        const keyRing = await loadKeyRing(config, store);
        await registerActiveKey(keyRing, store, Date.now());
        using bar = progressBar('user groups', await store.read({ kind: 'countUserGroups', of: null }));
        const { seen, reencrypted } = await reencryptTokens({ store, keyRing }, (count) => bar.show(count));
        bar.end();
        const { activeKeyId } = keyRing;
        if (options.json) printJson({ seen, resealed: reencrypted, active_key: activeKeyId });
        else
          console.log(
            `Re-encrypted ${reencrypted} of ${seen} tokens; all are now encrypted with key ${activeKeyId}.`,
          );
      }),
    );
}
