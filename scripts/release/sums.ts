// Writes the digests of the artefacts, and their signature.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './file.ts';
import { ReleaseRefused } from './run.ts';

const SUMS = 'SHA256SUMS';

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
