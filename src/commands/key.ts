import { Command } from 'commander';
import { generateKeyLine } from '../domain/key-ring.ts';
import { resealTokens } from '../operations/reseal.ts';
import { loadKeyRing, registerActiveKey } from '../token-keys.ts';
import { type DatabaseOptions, databaseOption, jsonOption, withExistingDatabase } from './database-option.ts';
import { printJson } from './output.ts';
import { progressBar } from './progress.ts';

export function keyCommand(): Command {
  return new Command('key')
    .summary('the keys that tokens are encrypted with at rest')
    .addCommand(generateCommand())
    .addCommand(reencryptCommand());
}

function generateCommand(): Command {
  return new Command('generate')
    .summary('print a new line for the key ring')
    .description(
      'Prints a line for the key ring (UGS_TOKEN_KEYS, or the file token-keys). The first line of a ring is its active key.',
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
    .summary('encrypt all tokens anew under the active key')
    .description(
      'Encrypts every stored token anew that is not under the active key; no token changes. Runs beside the service, ' +
        'can be interrupted and run again. Before it, every process must have been restarted with the new key in its ring.',
    )
    .addOption(databaseOption())
    .addOption(jsonOption())
    .action((options: DatabaseOptions) =>
      withExistingDatabase(options, async ({ store }, config) => {
        const keyRing = await loadKeyRing(config, store);
        await registerActiveKey(keyRing, store, Date.now());
        using bar = progressBar('user groups', await store.read({ kind: 'countUserGroups', of: null }));
        const result = await resealTokens({ store, keyRing }, (seen) => bar.show(seen));
        bar.end();
        if (options.json) printJson({ ...result, active_key: keyRing.activeKeyId });
        else
          console.log(
            `${result.resealed} of ${result.seen} tokens were encrypted anew; all are under key ${keyRing.activeKeyId}.`,
          );
      }),
    );
}
