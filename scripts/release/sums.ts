// The digests of the artefacts, and their signature.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from './file.ts';
import { run } from './run.ts';

const SUMS = 'SHA256SUMS';

/** Writes the digests of all files in the folder, signs them if there is a key, and returns the names of all files. */
export function writeSums(folder: string, minisignKey: string | undefined): string[] {
  const names = readdirSync(folder).sort();
  const lines = names.map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  writeFileSync(join(folder, SUMS), lines.join(''));
  if (minisignKey === undefined) return [...names, SUMS];
  const comment = ['-t', 'SHA256SUMS of the User Group Service'];
  run('minisign', ['-S', '-s', minisignKey, '-m', join(folder, SUMS), ...comment]);
  return [...names, SUMS, `${SUMS}.minisig`];
}
