// argv -> command -> exit code.

import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { apiTokenCommand } from './commands/api-token.ts';
import { backupCommand } from './commands/backup.ts';
import { copyCommand } from './commands/copy.ts';
import { exitCodeMeanings, exitCodeOf, exitCodes, isNoAddress } from './commands/exit-code.ts';
import { exportCommand } from './commands/export.ts';
import { importCommand } from './commands/import.ts';
import { keyCommand } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { serveCommand } from './commands/serve.ts';
import { startCommand } from './commands/start.ts';
import { workspaceCommand } from './commands/workspace.ts';
import { redact } from './domain/secret.ts';

/** Runs the command that `argv` names; resolves to the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  process.stdout.on('error', unlessLeft);
  // Nowhere is left to say it; the exit code tells.
  process.stderr.on('error', () => {});
  try {
    await program().parseAsync(argv);
    return exitCodes.ok;
  } catch (error) {
    const code = exitCodeOf(error);
    // Commander has printed its own.
    if (!(error instanceof CommanderError)) console.error(redact(messageOf(error, code)));
    return code;
  }
}

function program(): Command {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `  ${String(code).padStart(2)}  ${exitCodeMeanings[name as keyof typeof exitCodes]}`,
  );
  const command = new Command('user-group-service')
    .description('Issues a token per customer and tells your dashboards who is viewing.')
    .version(version)
    .showHelpAfterError('("--help" shows what there is)')
    // Commander would end the process; a service has a database to close first.
    .exitOverride()
    // What was typed is in it, and some type a token where its id belongs.
    .configureOutput({ outputError: (text, write) => write(redact(text)) })
    .addCommand(startCommand())
    .addCommand(serveCommand())
    .addCommand(apiTokenCommand())
    .addCommand(workspaceCommand())
    .addCommand(keyCommand())
    .addCommand(migrateCommand())
    .addCommand(backupCommand())
    .addCommand(copyCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addHelpText('after', `\nExit codes:\n${codes.join('\n')}`);
  inherit(command);
  return command;
}

/** Commander hands settings on only to commands that it makes itself. */
function inherit(command: Command): void {
  for (const child of command.commands) inherit(child.copyInheritedSettings(command));
}

/** Whoever reads the output may have enough of it, as `head` has; what was asked for is done to its end. */
function unlessLeft(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  console.error(`user-group-service: standard output takes no more: ${error.message}`);
  process.exit(exitCodes.failed);
}

function messageOf(error: unknown, code: number): string {
  const { message, stack, code: errno, port } = error as NodeJS.ErrnoException & { port?: number };
  if (errno === 'EADDRINUSE')
    return `user-group-service: port ${port} is taken; choose another with --port or PORT`;
  if (isNoAddress(error))
    return `user-group-service: ${message}; choose another address with --host or HOST, or port with --port or PORT`;
  return code === exitCodes.failed
    ? `user-group-service: ${stack ?? message}`
    : `user-group-service: ${message}`;
}
