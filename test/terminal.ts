// The program in a terminal, as people run it.

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type Folder, PROGRAM } from './process.ts';

/** Why there can be none. The one of Linux is meant: others take other arguments. */
export const noTerminal: string | false =
  !spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') &&
  'script of util-linux is not installed';

/**
 * The command that runs the program with its arguments, in a terminal that is there as long as the command. The file
 * process-id of the folder has the id of the program.
 */
export function inTerminal(folder: Folder): string {
  const file = folder.join('in-terminal');
  const script = `script --quiet --return --command "echo \\$\\$ > process-id; exec ${process.execPath} ${PROGRAM} $*" /dev/null`;
  writeFileSync(file, `#!/bin/sh\nexec ${script}\n`, { mode: 0o700 });
  return file;
}

/** The lines that somebody sees in the end: what a carriage return goes back over is written anew. */
export function linesInTerminal(output: string): string[] {
  return output.split('\r\n').map((line) => line.split('\r').at(-1)!.replaceAll('\x1b[K', ''));
}
