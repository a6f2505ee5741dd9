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
  return statSync(file, { throwIfNoEntry: false })?.uid === process.getuid?.() && !isPrivate(file);
}

/** Whether only the owner can read or write the file. */
export function isPrivate(file: string): boolean {
  return ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) === 0;
}
