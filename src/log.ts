// The log: JSON lines, or a short readable form on a terminal. No token can appear in it: nothing logs one, and
// every line passes `redact`.

import { type DestinationStream, destination, type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { redact } from './domain/secret.ts';

export async function createLog({
  logLevel,
  logFormat,
}: Pick<Config, 'logLevel' | 'logFormat'>): Promise<Logger> {
  const options = {
    level: logLevel,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite: redact },
  };
  const output = standardOutput();
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY)) return pino(options, output);
  // Loaded only where a person looks on.
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({ ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' });
  return pino(options, { write: (line) => output.write(pretty(line)) });
}

/** Lines that a full disk does not take are kept, and written with the next one for which there is room. */
const KEPT_BYTES = 2 ** 20;

/**
 * Where it cannot be written to, callers get their answers all the same. Nothing but `write` is handed out: pino would
 * flush after a fatal line, which waits for room for ever, and a process that is to end would not.
 */
function standardOutput(): DestinationStream {
  const output = destination({ dest: 1, sync: true, maxLength: KEPT_BYTES });
  output.on('error', () => {});
  return { write: (line) => void output.write(line) };
}
