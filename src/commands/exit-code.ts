// Exit codes of the command line. Those from 64 on follow sysexits.h.

import { CommanderError } from 'commander';
import type { AddressInUse, ConfigInvalid } from '../config.ts';
import type { AlreadyServed, BackupInvalid, BackupUnwritable, ServerUnfit } from '../database.ts';
import type { BootstrapApiTokenUnusable } from '../operations/api-token/bootstrap.ts';
import type { DatabasesDiffer } from '../operations/database/copy.ts';
import type { StoredTokenUnreadable } from '../operations/database/open-stored-token.ts';
import type { OtherKeyInUse } from '../operations/database/reencrypt.ts';
import type { WorkspaceDeleted } from '../operations/workspace/workspace.ts';
import type { SchemaTooNew } from '../store/migration.ts';
import type { FileExists } from '../system/atomic-file.ts';

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  data: 65,
  unavailable: 69,
  output: 74,
  busy: 75,
  config: 78,
} as const;

type ExitCode = keyof typeof exitCodes;

const meanings: Record<ExitCode, string> = {
  ok: 'success',
  failed: 'internal error (a bug); the message has the details',
  usage:
    'unknown command or option, an invalid argument, or a file that cannot be read or written; or config plan found changes',
  notFound: 'database, file, workspace, API token or user group not found',
  data: 'the file of a configuration was refused, import refused a CSV file, lines or too many deletions, check found violations, a workspace is not empty, an API token is not active, source and target of a copy differ, the file to restore is not a backup, or a check of doctor failed; the message has the details',
  unavailable: 'database or service unavailable: it cannot be opened, does not respond or refuses the call',
  output: 'config plan cannot write to standard output; other commands exit with 2',
  busy: 'port or UGS_METRICS_ADDRESS already in use, or another process is serving the database file',
  config:
    'invalid setting or key ring, incompatible versions of database and service, or too few file descriptors or threads',
};

/** Each code with its meaning, for help texts. */
export const exitCodeMeanings = (Object.keys(exitCodes) as ExitCode[]).map(
  (name) => [exitCodes[name], meanings[name]] as const,
);

/** An object that an argument names does not exist. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
}

/** An input of a command, or something that it found, is invalid; the message says what. */
export class DataError extends Error {
  override readonly name = 'DataError';
}

/** `config plan` has found changes and printed them. */
export class ChangesPlanned extends Error {
  override readonly name = 'ChangesPlanned';
}

/** A running service is unreachable, or refused a call. */
export class ServiceRefused extends Error {
  override readonly name = 'ServiceRefused';
}

/** An argument is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Throws the result of `explain` for a system error, which does not say what the command needed the file for,
 * and rethrows every other error.
 */
export function explainFileError(error: unknown, explain: (message: string) => Error): never {
  const { syscall, message } = error as NodeJS.ErrnoException;
  throw syscall === undefined ? error : explain(message);
}

/** Throws `NotFound` or `UsageError` if an input file is missing or unreadable, and rethrows every other error. */
export function explainReadError(error: unknown, file: string): never {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new NotFound(`file ${file} does not exist`);
  explainFileError(error, (message) => new UsageError(`cannot read ${file}: ${message}`));
}

type NamedError =
  | AddressInUse
  | AlreadyServed
  | BackupInvalid
  | BackupUnwritable
  | BootstrapApiTokenUnusable
  | ChangesPlanned
  | ConfigInvalid
  | DataError
  | DatabasesDiffer
  | FileExists
  | NotFound
  | OtherKeyInUse
  | SchemaTooNew
  | ServerUnfit
  | ServiceRefused
  | StoredTokenUnreadable
  | UsageError
  | WorkspaceDeleted;
type ErrorName = NamedError['name'] | 'Problem' | 'StoreUnavailable';

/**
 * Exit codes by the name of the error: a command does not load the code of all others, and the error of another
 * thread has lost its class.
 */
const codesByName: Record<ErrorName, number> = {
  AddressInUse: exitCodes.busy,
  AlreadyServed: exitCodes.busy,
  BackupInvalid: exitCodes.data,
  BackupUnwritable: exitCodes.usage,
  BootstrapApiTokenUnusable: exitCodes.config,
  ChangesPlanned: exitCodes.usage,
  ConfigInvalid: exitCodes.config,
  DataError: exitCodes.data,
  DatabasesDiffer: exitCodes.data,
  FileExists: exitCodes.usage,
  NotFound: exitCodes.notFound,
  OtherKeyInUse: exitCodes.config,
  Problem: exitCodes.unavailable,
  SchemaTooNew: exitCodes.config,
  ServerUnfit: exitCodes.config,
  ServiceRefused: exitCodes.unavailable,
  StoredTokenUnreadable: exitCodes.config,
  StoreUnavailable: exitCodes.unavailable,
  UsageError: exitCodes.usage,
  WorkspaceDeleted: exitCodes.notFound,
};

function hasCode(error: unknown): error is Error & { name: ErrorName } {
  return error instanceof Error && Object.hasOwn(codesByName, error.name);
}

export function toExitCode(error: unknown): number {
  if (isOutOfFiles(error)) return exitCodes.config;
  if (hasCode(error)) return codesByName[error.name];
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return exitCodes.busy;
  if (code === 'EACCES' || isListenError(error)) return exitCodes.config;
  return exitCodes.failed;
}

/** Whether Node failed to resolve the configured host or to listen on it. */
export function isListenError(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'listen' || syscall === 'getaddrinfo';
}

/** Whether there was no file descriptor left. Threads and the module loader say so only in the message. */
export function isOutOfFiles(error: unknown): boolean {
  return error instanceof Error && /EMFILE|ENFILE|too many open files/.test(error.message);
}
