// The program in a process that another command runs, such as strace, or that others must know the id of.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../bin/user-group-service.js');

/** Settings of a service whose log nobody reads: at load it would take more time than the work. */
export const QUIET = { LOG_LEVEL: 'info' };

/** Writes a script that runs the program with the arguments that it gets, under the command; returns its path. */
export function writeScript(path: string, under: readonly string[] = []): string {
  // In double quotes, so that a word may name the process itself: $$.
  const words = [...under, process.execPath, PROGRAM].map((word) => `"${word}"`).join(' ');
  writeFileSync(path, `#!/bin/sh\necho $$ > '${path}.pid'\nexec ${words} "$@"\n`, { mode: 0o700 });
  return path;
}

/** The process that the script became when it was last run. */
export function processOf(script: string): number {
  return Number(readFileSync(`${script}.pid`, 'utf8'));
}
