// Runs the program under another command, such as strace.

import { writeFileSync } from 'node:fs';
import { nodeFlagsOf } from '../../test/support/node-flags.ts';
import { PROGRAM } from '../../test/support/process.ts';

/** Settings that reduce logging, which under load would take longer than the work. */
export const QUIET = { LOG_LEVEL: 'info' };

/** Writes a script that runs the program under the command and passes its arguments on; returns its path. */
export function writeScript(path: string, under: readonly string[]): string {
  const command = [...under, process.execPath, ...nodeFlagsOf(PROGRAM), PROGRAM];
  // Double quotes let an argument contain the id of the process: $$.
  const quoted = command.map((argument) => `"${argument}"`).join(' ');
  writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o700 });
  return path;
}
