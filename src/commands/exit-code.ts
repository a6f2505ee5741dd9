// Exit codes of the command line; those from 64 on are the ones of sysexits.h.

import { CommanderError } from 'commander';
import { ConfigInvalid } from '../config.ts';
import { AlreadyServed, SchemaTooNew, ServerUnfit } from '../database.ts';
import { DatabasesDiffer } from '../operations/copy.ts';
import { OtherKeyInUse } from '../operations/reseal.ts';
import { StoredTokenUnreadable } from '../operations/stored-token.ts';
import { FileExists } from '../publish.ts';
import { StoreUnavailable } from '../store/store.ts';

export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  data: 65,
  unavailable: 69,
  busy: 75,
  config: 78,
} as const;

export const exitCodeMeanings: Record<keyof typeof exitCodes, string> = {
  ok: 'done',
  failed: 'a mistake of the program; the message has the details',
  usage: 'unknown command or flag, or a bad argument',
  notFound: 'there is no such thing',
  data: 'lines of an import were refused, or two databases are not what a copy needs or makes; the message has the details',
  unavailable: 'the database cannot be opened or does not answer',
  busy: 'the port is taken, or another process serves the database file',
  config: 'a setting or the key ring is not right, or the versions of database and service do not fit',
};

/** A command finds that what it was asked for is not there. */
export class NotFound extends Error {
  override readonly name = 'NotFound';
}

/** Lines of an import were refused, and each was told of. */
export class LinesRefused extends Error {
  override readonly name = 'LinesRefused';
}

/** An argument is not right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError || error instanceof FileExists) return exitCodes.usage;
  if (error instanceof NotFound) return exitCodes.notFound;
  if (error instanceof DatabasesDiffer || error instanceof LinesRefused) return exitCodes.data;
  if (error instanceof ConfigInvalid || error instanceof StoredTokenUnreadable) return exitCodes.config;
  if (error instanceof OtherKeyInUse) return exitCodes.config;
  if (error instanceof SchemaTooNew || error instanceof ServerUnfit) return exitCodes.config;
  if (error instanceof AlreadyServed) return exitCodes.busy;
  if (error instanceof StoreUnavailable) return exitCodes.unavailable;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return exitCodes.busy;
  if (code === 'EACCES' || isNoAddress(error)) return exitCodes.config;
  return exitCodes.failed;
}

/** Whether it is Node's error where the service cannot listen as it is told to. */
export function isNoAddress(error: unknown): boolean {
  const { syscall } = error as NodeJS.ErrnoException;
  return syscall === 'listen' || syscall === 'getaddrinfo';
}
