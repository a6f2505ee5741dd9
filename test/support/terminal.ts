// Runs the program in a terminal.

import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { type Exit, type Folder, PROGRAM, Program } from './process.ts';

/**
 * Reason to skip, or false. Requires `script` of util-linux, because other versions have different arguments.
 */
export const noTerminal: string | false =
  !spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') &&
  'script of util-linux is not installed';

/**
 * Returns a command that runs the program with its arguments in a terminal, which exists until the command
 * exits. The file process-id in the folder contains the process id of the program. `typed`: a named pipe that the
 * test writes to.
 */
export function inTerminal(folder: Folder, typed?: string, columns = 80): string {
  const file = folder.join('in-terminal');
  const script = `script --quiet --return --command "echo \\$\\$ > process-id; stty columns ${columns}; exec ${process.execPath} ${PROGRAM} $*" /dev/null`;
  const input = typed === undefined ? '' : ` <> ${typed}`;
  writeFileSync(file, `#!/bin/sh\nexec ${script}${input}\n`, { mode: 0o700 });
  return file;
}

/** Runs the program in a terminal, and types the line at its prompt for confirmation after the change. */
export async function confirmInTerminal(
  folder: Folder,
  args: readonly string[],
  env: Record<string, string>,
  line: string,
  change: () => Promise<unknown> = async () => null,
): Promise<Exit> {
  const typed = folder.join(`typed-${line}`);
  execFileSync('mkfifo', [typed]);
  await using program = new Program(folder, args, { command: inTerminal(folder, typed), env });
  await program.says(/to confirm: /);
  await change();
  writeFileSync(typed, `${line}\n`);
  return await program.exit();
}

/** Returns the final lines in the terminal, where a carriage return overwrites the line. */
export function linesInTerminal(output: string): string[] {
  return output.split('\r\n').map((line) => line.split('\r').at(-1)!.replaceAll('\x1b[K', ''));
}
