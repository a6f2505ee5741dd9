// The log: JSON lines, or a short readable form on a terminal. No token can appear in it: nothing logs one, and
// every line passes `redact`.

import { type Logger, pino } from 'pino';
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
  if (logFormat === 'json' || (logFormat === 'auto' && !process.stdout.isTTY)) return pino(options);
  // Loaded only where a person looks on.
  const { PinoPretty } = await import('pino-pretty');
  return pino(options, PinoPretty({ sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' }));
}
