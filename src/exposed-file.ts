// Files of secrets that others on the machine may read.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where container engines mount secrets, for every user of the container, who has it for himself. */
const MOUNTED = '/run/secrets/';

/** A warning for each that is exposed. */
export function findExposedFiles(files: readonly string[]): string[] {
  return files
    .filter(isExposed)
    .map((file) => `${file} holds a secret, and others may read it: chmod 600 ${file}`);
}

/** As for ssh, only a file of our own user: that of another one is shown to us because he lets others read it. */
function isExposed(file: string): boolean {
  if (resolve(file).startsWith(MOUNTED)) return false;
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat !== undefined && stat.uid === process.getuid?.() && (stat.mode & 0o077) !== 0;
}
