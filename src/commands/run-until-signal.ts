// Shared by `start` and `serve`: runs the service until a signal shuts it down gracefully.

import { isatty } from 'node:tty';
import type { Logger } from 'pino';
import type { App, Prepare } from '../app.ts';
import type { Config } from '../config.ts';
import { crash } from '../system/crash.ts';
import { limitHeaps } from '../system/small-heap.ts';
import { ServingThreads } from '../threads/serving-threads.ts';

/**
 * A terminal sends SIGHUP when it closes. Without a terminal, SIGHUP asks a program to read or open its files
 * again.
 */
const isInTerminal = [0, 1, 2].some((file) => isatty(file));
const SIGNALS: readonly NodeJS.Signals[] = [
  'SIGTERM',
  'SIGINT',
  ...(isInTerminal ? ['SIGHUP' as const] : []),
];
/** Ignored: by default, SIGHUP and SIGUSR2 end a process, and SIGUSR1 opens an inspector that can read the keys. */
const IGNORED: readonly NodeJS.Signals[] = [
  'SIGUSR1',
  'SIGUSR2',
  ...(isInTerminal ? [] : ['SIGHUP' as const]),
];
/** A repeated signal within this time is a duplicate: npm forwards signals that the terminal also sends to the process. */
const DUPLICATE_SIGNAL_MS = 1_000;
/** Time beyond the shutdown timeout, in which the database is closed. */
export const CLOSING_MS = 8_000;

/**
 * Starts the service, calls `announce`, and resolves when a signal has shut the service down gracefully. A second
 * signal, unless it is a duplicate, ends the process immediately. A signal during startup cancels the startup.
 * `prepare` runs before the service listens.
 */
export async function serveUntilSignal(
  log: Logger,
  config: Config,
  announce: (app: App) => void | Promise<void>,
  prepare?: Prepare,
): Promise<void> {
  limitHeaps();
  let app: App | null = null;
  const onBug = (error: unknown): void => {
    log.fatal({ err: error }, 'uncaught exception (a bug): the process exits');
    if (app === null || app.threads === 1) process.exit(1);
    process.off('uncaughtException', onBug);
    limitShutdown(log, config);
    // Lets the other threads answer their requests first.
    void app.abandon().finally(() => process.exit(1));
  };
  process.on('uncaughtException', onBug);
  for (const each of IGNORED)
    process.on(each, (signal) =>
      log.warn({ signal }, 'signal ignored; restart the process to read its files again'),
    );
  const signalled = firstSignal();
  app = await startUnlessSignalled(log, config, signalled, prepare);
  if (app === null) return;
  try {
    await announce(app);
    const signal = await Promise.race([signalled, app.failed]).catch((error: unknown) => {
      log.fatal({ err: error }, 'uncaught exception in a serving thread (a bug): the process exits');
      throw error;
    });
    log.info({ signal }, 'shutting down: draining requests in flight');
  } finally {
    limitShutdown(log, config);
    await app.close();
  }
  log.info('stopped');
}

/** Ends the process if a thread hangs. `process.exit` would wait for a thread that hangs in native code. */
function limitShutdown(log: Logger, { shutdownDelayMs, shutdownTimeoutMs }: Config): void {
  const end = (): void => {
    log.fatal('the shutdown takes too long: the process is killed');
    crash();
  };
  setTimeout(end, shutdownDelayMs + shutdownTimeoutMs + CLOSING_MS).unref();
}

/** Returns null if a signal arrives first. Abandoning a startup loses no data. */
async function startUnlessSignalled(
  log: Logger,
  config: Config,
  signalled: Promise<NodeJS.Signals>,
  prepare: Prepare | undefined,
): Promise<App | null> {
  const abort = new AbortController();
  void signalled.then(() => abort.abort());
  try {
    const threads = ServingThreads.start(config);
    // Imported on demand: the commands that do not serve start twice as fast without the HTTP server.
    const { startApp } = await import('../app.ts');
    return await startApp(config, log, { signal: abort.signal, ...(prepare && { prepare }), threads });
  } catch (error) {
    if (!abort.signal.aborted) throw error;
    log.info({ signal: await signalled }, 'startup cancelled by a signal');
    return null;
  }
}

function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (signal: NodeJS.Signals): void => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > DUPLICATE_SIGNAL_MS) process.exit(1);
      resolve(signal);
    };
    for (const each of SIGNALS) process.on(each, onSignal);
  });
}
