// What `start` and `serve` share: run until a signal ends the service in order.

import type { Logger } from 'pino';
import type { App } from '../app.ts';

/** Resolves when SIGTERM or SIGINT has ended the service in order; a second signal ends it at once. */
export async function runUntilSignal(app: App, log: Logger): Promise<void> {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the service ends: it has met a mistake of its own');
    process.exit(1);
  });
  const signal = await new Promise<NodeJS.Signals>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, resolve);
  });
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(1));
  log.info({ signal }, 'stopping: requests in flight are answered first');
  await app.close();
  log.info('stopped');
}
