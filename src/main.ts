// Parses the command line, runs the command and maps errors to exit codes.

import { Command, CommanderError } from 'commander';
import {
  exitCodeMeanings,
  exitCodes,
  isListenError,
  isOutOfFiles,
  toExitCode,
} from './commands/exit-code.ts';
import { addHelpSection, formatItem } from './commands/terminal/help-layout.ts';
import { hasPrintedSecret } from './commands/terminal/output.ts';
import { escapeControls } from './commands/terminal/terminal-text.ts';
import { allSettings } from './config.ts';
import { redact } from './domain/secret.ts';
import { readVersion } from './version.ts';

const ERROR_PREFIX = 'user-group-service: ';

/**
 * Commands in the order of the help. Only the command that runs is loaded: loading all takes 0.2 seconds of
 * processor time.
 */
const commands: Record<string, () => Promise<Command>> = {
  start: async () => (await import('./commands/start.ts')).startCommand(),
  serve: async () => (await import('./commands/serve.ts')).serveCommand(),
  'api-token': async () => (await import('./commands/api-token.ts')).apiTokenCommand(),
  workspace: async () => (await import('./commands/workspace.ts')).workspaceCommand(),
  group: async () => (await import('./commands/group.ts')).groupCommand(),
  config: async () => (await import('./commands/config/config.ts')).configCommand(),
  webhook: async () => (await import('./commands/webhook.ts')).webhookCommand(),
  event: async () => (await import('./commands/event.ts')).eventCommand(),
  key: async () => (await import('./commands/key.ts')).keyCommand(),
  'signing-key': async () => (await import('./commands/signing-key.ts')).signingKeyCommand(),
  migrate: async () => (await import('./commands/migrate.ts')).migrateCommand(),
  backup: async () => (await import('./commands/backup.ts')).backupCommand(),
  restore: async () => (await import('./commands/restore.ts')).restoreCommand(),
  doctor: async () => (await import('./commands/doctor/doctor.ts')).doctorCommand(),
  copy: async () => (await import('./commands/copy.ts')).copyCommand(),
  import: async () => (await import('./commands/import/import.ts')).importCommand(),
  export: async () => (await import('./commands/export.ts')).exportCommand(),
  usage: async () => (await import('./commands/usage.ts')).usageCommand(),
  check: async () => (await import('./commands/check.ts')).checkCommand(),
  completion: async () => (await import('./commands/completion.ts')).completionCommand(),
  help: async () => (await import('./commands/help.ts')).helpCommand(),
};
/** Commands that list the others, and so need all of them loaded. */
const LISTING = ['completion', 'help'];

/** Runs the command in `argv` and returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  process.stdout.on('error', (error) => handleOutputError(error, argv));
  // Nowhere is left to report this; the exit code remains.
  process.stderr.on('error', () => {});
  try {
    await (await program(namesIn(argv))).parseAsync(argv);
    return exitCodes.ok;
  } catch (error) {
    const code = toExitCode(error);
    // Commander prints its own errors.
    if (!(error instanceof CommanderError))
      console.error(escapeControls(redact(failureMessage(error, code))));
    return code;
  }
}

/** Names of the commands that have to be loaded to run `argv`; undefined for all. */
function namesIn([, , first = '', second = '']: readonly string[]): string[] | undefined {
  if (first === '--version' || first === '-V') return [];
  if (first === 'help' && Object.hasOwn(commands, second)) return [...new Set([first, second])];
  return Object.hasOwn(commands, first) && !LISTING.includes(first) ? [first] : undefined;
}

/** Builds the command line with all or some of its commands; docs/reference.md is generated from it. */
export async function program(names = Object.keys(commands)): Promise<Command> {
  const codes = exitCodeMeanings.map(([code, meaning]) => [String(code).padStart(2), meaning] as const);
  const command = new Command('user-group-service')
    .description('Issues a token per customer and tells your dashboards who is viewing.')
    .version(readVersion())
    .showHelpAfterError('(run with --help for usage)')
    .configureHelp({ formatItem })
    // Commander exits the process by default; the service has to close the database first.
    .exitOverride()
    // The message quotes the arguments, and one of them may be a token passed in place of its id.
    .configureOutput({
      outputError: (text, write) => write(escapeControls(redact(text.replace(/^error: /, ERROR_PREFIX)))),
    })
    .hook('preAction', (_program, action) => refuseEmpty(action));
  for (const each of await Promise.all(names.map((name) => commands[name]!()))) command.addCommand(each);
  addHelpSection(command, 'Exit codes:', codes);
  inheritSettings(command);
  return command;
}

/** Refuses empty paths, names and ids, which come from unset variables. Some settings may be empty. */
function refuseEmpty(command: Command): void {
  const argument = command.registeredArguments.find((_, index) => command.args[index] === '');
  if (argument !== undefined) command.error(`error: argument '${argument.name()}' must not be empty`);
  const flags = allSettings.map(({ flag }) => flag);
  const values = command.opts();
  const option = command.options.find(
    (each) => values[each.attributeName()] === '' && !flags.includes(each.flags),
  );
  if (option !== undefined) command.error(`error: option '${option.flags}' must not be empty`);
}

/** Commander passes settings on only to commands that it creates itself. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) inheritSettings(child.copyInheritedSettings(command));
}

/** A reader such as `head` may close the pipe early: the command still runs to completion, unless a secret is lost. */
function handleOutputError(error: NodeJS.ErrnoException, [, , ...names]: readonly string[]): void {
  if (error.code === 'EPIPE' && !hasPrintedSecret()) return;
  console.error(
    `${ERROR_PREFIX}cannot write to standard output: ${error.message}; what the command has changed stays`,
  );
  const isPlan = names[0] === 'config' && names[1] === 'plan';
  process.exit(isPlan ? exitCodes.output : exitCodes.usage);
}

function failureMessage(error: unknown, code: number): string {
  const { message, stack, code: errno, port } = error as NodeJS.ErrnoException & { port?: number };
  if (errno === 'EADDRINUSE')
    return `${ERROR_PREFIX}port ${port} is already in use; choose another port with --port or PORT`;
  if (isOutOfFiles(error))
    return `${ERROR_PREFIX}too many open files; raise the limit (ulimit -n, LimitNOFILE): ${message}`;
  if (isListenError(error))
    return `${ERROR_PREFIX}cannot listen: ${message}; choose another address with --host or HOST, or another port with --port or PORT`;
  return `${ERROR_PREFIX}${code === exitCodes.failed ? (stack ?? message) : message}`;
}
