// The log: JSON lines, or a short readable form on a terminal. It never contains a token: no code logs one, and
// every line passes through `redact`.

import { hostname } from 'node:os';
import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { redact } from './domain/secret.ts';
import { readVersion } from './version.ts';

export async function createLog({
  logLevel,
  logFormat,
}: Pick<Config, 'logLevel' | 'logFormat'>): Promise<Logger> {
  const options = {
    level: logLevel,
    base: { pid: process.pid, hostname: hostname(), version: readVersion() },
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: redact },
  };
  const output = standardOutput();
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY)) return pino(options, output);
  // Loaded only for a terminal, to keep the start fast.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({ ignore: 'pid,hostname,version', translateTime: 'SYS:HH:MM:ss.l' });
  return pino(options, { write: (line) => output.write(pretty(line)) });
}

/** The log of another thread, whose lines `write` passes to the main thread: unredacted, for `writeLine`. */
export function createThreadLog(
  level: string,
  bindings: Record<string, unknown>,
  write: (line: string) => void,
): Logger {
  const base = { pid: process.pid, hostname: hostname(), ...bindings };
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** Writes a line of another thread. */
export function writeLine(log: Logger, line: string): void {
  const internals = log as unknown as {
    [pino.symbols.streamSym]: DestinationStream;
    [pino.symbols.hooksSym]: { streamWrite?: (line: string) => string };
  };
  const { streamWrite = redact } = internals[pino.symbols.hooksSym];
  internals[pino.symbols.streamSym].write(streamWrite(line));
}

/** When the disk is full, lines are buffered up to this size and written with the next line that fits. */
const MAX_BUFFER_BYTES = 2 ** 20;

/**
 * Write errors are ignored, so that a broken log does not fail requests. Exposes only `write`: pino flushes after a
 * fatal line, which on a full disk would block forever and keep the process from exiting.
 */
function standardOutput(): DestinationStream {
  const output = destination({ dest: 1, sync: true, maxLength: MAX_BUFFER_BYTES });
  output.on('error', () => {});
  return { write: (line) => void output.write(line) };
}
