import { Command } from 'commander';
import type { Config } from '../config.ts';
import { issuerUrl, publishedKeys, signingKeyMembers } from '../domain/signing-key/key-set.ts';
import { findKeySet, rotateKeySet, type StoredKeySet } from '../operations/signing-key/key-set.ts';
import { commandContext, contextWithKeys } from './command-context.ts';
import { onPlace, type PlaceOptions } from './option/workspace-option.ts';
import { printJson, printTable } from './terminal/output.ts';

export function signingKeyCommand(): Command {
  return new Command('signing-key')
    .summary('list and rotate the keys that sign embed tokens')
    .description(
      'Each workspace and environment has its own keys, created with its first integration that needs them. Tools verify ' +
        'embed tokens with the public keys, which the service publishes.',
    )
    .addCommand(listCommand())
    .addCommand(rotateCommand());
}

function listCommand(): Command {
  const command = new Command('list').summary('list the published keys');
  return onPlace(command, 'the keys', async (place, options: PlaceOptions) =>
    print(await findKeySet(commandContext(place), place.caller), place.config, options),
  );
}

function rotateCommand(): Command {
  const command = new Command('rotate')
    .summary('publish new keys, which sign six minutes later')
    .description(
      'Publishes a new key of each algorithm. The previous keys sign for another six minutes, until every verifier has the ' +
        'new ones, and remain published until the last token that they signed has expired.',
    )
    .option(
      '--revoke',
      'remove the previous keys and sign with the new ones immediately, because a key has leaked',
    );
  return onPlace(command, 'the keys', async (place, options: PlaceOptions & { revoke?: boolean }) => {
    const { revoke = false } = options;
    const stored = await rotateKeySet(await contextWithKeys(place), place.caller, { revoke });
    print(stored, place.config, options);
  });
}

function print(stored: StoredKeySet | null, { publicUrl }: Config, { json }: PlaceOptions): void {
  const now = Date.now();
  const published = stored === null ? [] : publishedKeys(stored.keySet, now);
  const keys = published.map((key) => signingKeyMembers(key, stored!.keySet, now));
  if (json) {
    const issuer = stored === null || publicUrl === '' ? null : issuerUrl(publicUrl, stored.keySet);
    printJson({ issuer, signing_keys: keys });
    return;
  }
  const rows = keys.map(({ public_key: _, ...key }) => Object.values(key).map((cell) => cell ?? '-'));
  printTable(['KEY', 'ALGORITHM', 'STATUS', 'SIGNS FROM', 'PUBLISHED UNTIL'], rows);
}
