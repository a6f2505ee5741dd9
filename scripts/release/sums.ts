// Writes the digests of the artefacts, and their signature.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './file.ts';
import { ReleaseRefused } from './run.ts';

const SUMS = 'SHA256SUMS';

/** Throws `ReleaseRefused` if the key cannot be read: signing comes last, after builds that take many minutes. */
export function refuseUnreadableKey(key: string): void {
  try {
    accessSync(key, constants.R_OK);
  } catch (error) {
    throw new ReleaseRefused(`cannot read the key: ${(error as Error).message}`);
  }
}

/** Writes the digests of all files in the folder, signs them if there is a key, and returns the names of all files. */
export function writeSums(folder: string, minisignKey: string | undefined): string[] {
  const names = readdirSync(folder).sort();
  const lines = names.map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  writeFileSync(join(folder, SUMS), lines.join(''));
  if (minisignKey === undefined) return [...names, SUMS];
  sign(join(folder, SUMS), minisignKey);
  return [...names, SUMS, `${SUMS}.minisig`];
}

/** Signs in the terminal, because minisign asks for the password of the key. */
function sign(path: string, key: string): void {
  const comment = ['-t', 'SHA256SUMS of the User Group Service'];
  const { status } = spawnSync('minisign', ['-S', '-s', key, '-m', path, ...comment], { stdio: 'inherit' });
  if (status !== 0) throw new ReleaseRefused(`minisign did not sign ${path} with ${key}`);
}
