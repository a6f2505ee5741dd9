// What `start` and `serve` share: run until a signal ends the service in order.

import type { Logger } from 'pino';
import type { App } from '../app.ts';

/** The last one is that of a terminal that is closed. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
/** What comes within it is the same signal once more: npm hands on what the process has from the terminal already. */
const ONE_SIGNAL_MS = 1_000;

/**
 * Starts the service, lets `announce` tell of it, and resolves when a signal has ended it in order; a
 * second one, more than a moment later, ends it at once. A signal that comes during the start counts too.
 */
export async function serveUntilSignal(
  log: Logger,
  start: (signal: AbortSignal) => Promise<App>,
  announce: (app: App) => void | Promise<void>,
): Promise<void> {
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the service ends: it has met a mistake of its own');
    process.exit(1);
  });
  const signalled = firstSignal();
  const app = await startUnlessSignalled(log, start, signalled);
  if (app === null) return;
  try {
    await announce(app);
    const signal = await signalled;
    log.info({ signal }, 'stopping: requests in flight are answered first');
  } finally {
    await app.close();
  }
  log.info('stopped');
}

/** null where the signal has come first: what is begun is given up, which loses nothing. */
async function startUnlessSignalled(
  log: Logger,
  start: (signal: AbortSignal) => Promise<App>,
  signalled: Promise<NodeJS.Signals>,
): Promise<App | null> {
  const abort = new AbortController();
  void signalled.then(() => abort.abort());
  try {
    return await start(abort.signal);
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    log.info({ signal: await signalled }, 'stopped before it has served');
    return null;
  }
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (signal: NodeJS.Signals): void => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > ONE_SIGNAL_MS) process.exit(1);
      resolve(signal);
    };
    for (const each of SIGNALS) process.on(each, onSignal);
  });
}
