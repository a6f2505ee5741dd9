// Parses the command line, runs the command and maps errors to exit codes.

import { Command, CommanderError } from 'commander';
import { apiTokenCommand } from './commands/api-token.ts';
import { backupCommand } from './commands/backup.ts';
import { checkCommand } from './commands/check.ts';
import { completionCommand } from './commands/completion.ts';
import { configCommand } from './commands/config.ts';
import { copyCommand } from './commands/copy.ts';
import { doctorCommand } from './commands/doctor/doctor.ts';
import { eventCommand } from './commands/event.ts';
import { exitCodeMeanings, exitCodes, isListenError, toExitCode } from './commands/exit-code.ts';
import { exportCommand } from './commands/export.ts';
import { groupCommand } from './commands/group.ts';
import { helpCommand } from './commands/help.ts';
import { importCommand } from './commands/import.ts';
import { keyCommand } from './commands/key.ts';
import { migrateCommand } from './commands/migrate.ts';
import { restoreCommand } from './commands/restore.ts';
import { serveCommand } from './commands/serve.ts';
import { signingKeyCommand } from './commands/signing-key.ts';
import { startCommand } from './commands/start.ts';
import { usageCommand } from './commands/usage.ts';
import { webhookCommand } from './commands/webhook.ts';
import { workspaceCommand } from './commands/workspace.ts';
import { redact } from './domain/secret.ts';
import { readVersion } from './version.ts';

const ERROR_PREFIX = 'user-group-service: ';

/** Runs the command in `argv` and returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  process.stdout.on('error', handleOutputError);
  // There is nowhere left to report this; the exit code remains.
  process.stderr.on('error', () => {});
  try {
    await program().parseAsync(argv);
    return exitCodes.ok;
  } catch (error) {
    const code = toExitCode(error);
    // Commander prints its own errors.
    if (!(error instanceof CommanderError)) console.error(redact(failureMessage(error, code)));
    return code;
  }
}

/** The command line: also the source of docs/reference.md. */
export function program(): Command {
  const codes = Object.entries(exitCodes).map(
    ([name, code]) => `  ${String(code).padStart(2)}  ${exitCodeMeanings[name as keyof typeof exitCodes]}`,
  );
  const command = new Command('user-group-service')
    .description('Issues a token per customer and tells your dashboards who is viewing.')
    .version(readVersion())
    .showHelpAfterError('(run with --help for usage)')
    // Commander exits the process by default; the service has to close the database first.
    .exitOverride()
    // The message quotes the arguments, and one of them may be a token passed in place of its id.
    .configureOutput({ outputError: (text, write) => write(redact(text.replace(/^error: /, ERROR_PREFIX))) })
    .addCommand(startCommand())
    .addCommand(serveCommand())
    .addCommand(apiTokenCommand())
    .addCommand(workspaceCommand())
    .addCommand(groupCommand())
    .addCommand(configCommand())
    .addCommand(webhookCommand())
    .addCommand(eventCommand())
    .addCommand(keyCommand())
    .addCommand(signingKeyCommand())
    .addCommand(migrateCommand())
    .addCommand(backupCommand())
    .addCommand(restoreCommand())
    .addCommand(doctorCommand())
    .addCommand(copyCommand())
    .addCommand(importCommand())
    .addCommand(exportCommand())
    .addCommand(usageCommand())
    .addCommand(checkCommand())
    .addCommand(completionCommand())
    .addCommand(helpCommand())
    .addHelpText('after', `\nExit codes:\n${codes.join('\n')}`);
  inheritSettings(command);
  return command;
}

/** Commander passes settings on only to commands that it creates itself. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command));
}

/** A reader such as `head` may close the pipe early: the command still runs to completion. */
function handleOutputError(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') return;
  console.error(`${ERROR_PREFIX}cannot write to standard output: ${error.message}`);
  process.exit(exitCodes.failed);
}

function failureMessage(error: unknown, code: number): string {
  const { message, stack, code: errno, port } = error as NodeJS.ErrnoException & { port?: number };
  if (errno === 'EADDRINUSE')
    return `${ERROR_PREFIX}port ${port} is already in use; choose another port with --port or PORT`;
  if (isListenError(error))
    return `${ERROR_PREFIX}cannot listen: ${message}; choose another address with --host or HOST, or another port with --port or PORT`;
  return `${ERROR_PREFIX}${code === exitCodes.failed ? (stack ?? message) : message}`;
}
