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
  const output = standardOutput((lines) =>
    log.warn({ lines }, 'lines of the log were lost: standard output could not be written'),
  );
  const isJson = logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY);
  const log = pino(options, isJson ? output : await prettyPrinter(output));
  return log;
}

async function prettyPrinter(output: DestinationStream): Promise<DestinationStream> {
  // Loaded only for a terminal, to keep the start fast.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({ ignore: 'pid,hostname,version', translateTime: 'SYS:HH:MM:ss.l' });
  return { write: (line) => output.write(pretty(line)) };
}

/**
 * Creates the log of another thread. `write` passes its lines, unredacted, to the main thread for
 * `writeLine`.
 */
export function createThreadLog(
  level: string,
  bindings: Record<string, unknown>,
  write: (line: string) => void,
): Logger {
  const base = { pid: process.pid, hostname: hostname(), ...bindings };
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}

/** Writes a line that another thread has logged. */
export function writeLine(log: Logger, line: string): void {
  const internals = log as unknown as {
    [pino.symbols.streamSym]: DestinationStream;
    [pino.symbols.hooksSym]: { streamWrite?: (line: string) => string };
  };
  const { streamWrite = redact } = internals[pino.symbols.hooksSym];
  internals[pino.symbols.streamSym].write(streamWrite(line));
}

/** Maximum size of buffered lines that could not be written yet. */
const MAX_BUFFER_BYTES = 2 ** 20;
const RETRY_MS = 100;
const MAX_RETRIES_AT_EXIT = 10;

/**
 * Writes to standard output and ignores write errors, so that a broken log does not fail requests. A full
 * pipe is an error too: waiting for its reader would block every request of the thread. Once all buffered
 * lines are written, `onLoss` gets the number of lines that did not fit into the buffer. Exposes only
 * `write`: pino flushes after a fatal line, which on a full disk would block forever and keep the process
 * from exiting.
 */
function standardOutput(onLoss: (lines: number) => void): DestinationStream {
  const output = destination({
    dest: 1,
    sync: true,
    maxLength: MAX_BUFFER_BYTES,
    retryEAGAIN: () => false,
  });
  let retry: NodeJS.Timeout | null = null;
  let lost = 0;
  const writeAgain = (): void => {
    retry = null;
    // An empty write flushes the buffer; a line that does not fit into the buffer would not.
    output.write('');
    if (retry !== null || lost === 0) return;
    const lines = lost;
    lost = 0;
    onLoss(lines);
  };
  output.on('error', () => {
    retry ??= setTimeout(writeAgain, RETRY_MS).unref();
  });
  output.on('drop', () => {
    lost += 1;
  });
  // The last lines say why the process ends, so wait for them to be written.
  process.on('exit', () => {
    for (let retries = 0; retry !== null && retries < MAX_RETRIES_AT_EXIT; retries++) {
      block(RETRY_MS);
      writeAgain();
    }
  });
  return { write: (line) => void output.write(line) };
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms);
}
