// Detects secret files that other users of the machine can read.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Container engines mount secrets here, readable for all users of the container, which has no other users. */
const CONTAINER_SECRETS = '/run/secrets/';

/** Returns a warning for each exposed file. */
export function findExposedFiles(files: readonly string[]): string[] {
  return files
    .filter(isExposed)
    .map((file) => `${file} contains a secret and other users can read it: run chmod 600 ${file}`);
}

/** Checks only files that our user owns, as ssh does: a file of another owner has to be readable for others. */
export function isExposed(file: string): boolean {
  if (resolve(file).startsWith(CONTAINER_SECRETS)) return false;
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && stat.uid === process.getuid?.() && (stat.mode & 0o077) !== 0;
}
