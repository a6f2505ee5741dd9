// Runs the program through a script, under another command such as strace or to expose its process id.

import { readFileSync, writeFileSync } from 'node:fs';
import { PROGRAM } from '../../test/support/process.ts';

/** Settings that reduce logging, which under load would take longer than the work. */
export const QUIET = { LOG_LEVEL: 'info' };

/** Writes a script that runs the program under the command and passes its arguments on; returns its path. */
export function writeScript(path: string, under: readonly string[] = []): string {
  // Double quotes let an argument contain the id of the process: $$.
  const command = [...under, process.execPath, PROGRAM].map((argument) => `"${argument}"`).join(' ');
  writeFileSync(path, `#!/bin/sh\necho $$ > '${path}.pid'\nexec ${command} "$@"\n`, { mode: 0o700 });
  return path;
}

/** Returns the process id of the last run of the script. */
export function processOf(script: string): number {
  return Number(readFileSync(`${script}.pid`, 'utf8'));
}
