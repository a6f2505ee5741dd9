// Warns when the process runs out of file descriptors. libuv then accepts and closes connections without an error, so
// callers see closed connections and the operator sees nothing.

import { closeSync, openSync } from 'node:fs';
import type { Server } from 'node:http';
import { devNull } from 'node:os';
import type { Logger } from 'pino';

const CHECK_MS = 1_000;
const REPEAT_MS = 60_000;

/** Logs connections closed for lack of file descriptors or because of `maxConnections`, each at most once a minute. */
export function logRefusedConnections(server: Server, log: Logger): void {
  let isExhausted = false;
  const warnOfFiles = atMostOnceA(REPEAT_MS, (connections: number) =>
    log.error(
      { code: 'EMFILE', connections },
      'too many open files (EMFILE): new connections are closed unanswered; raise the limit (ulimit -n, LimitNOFILE)',
    ),
  );
  const warnOfConnections = atMostOnceA(REPEAT_MS, () =>
    log.warn(
      { connections: server.maxConnections },
      'UGS_MAX_CONNECTIONS is reached: new connections are closed unanswered',
    ),
  );
  const check = (): void => {
    const wasExhausted = isExhausted;
    isExhausted = !canOpenFile();
    if (isExhausted) server.getConnections((_error, connections) => warnOfFiles(connections));
    else if (wasExhausted) log.info('files can be opened again');
  };
  const timer = setInterval(check, CHECK_MS).unref();
  server.on('drop', () => warnOfConnections());
  server.on('close', () => clearInterval(timer));
}

/** EMFILE is the limit of the process, ENFILE that of the machine. */
function canOpenFile(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'EMFILE' && code !== 'ENFILE';
  }
}

function atMostOnceA<Args extends unknown[]>(
  intervalMs: number,
  act: (...args: Args) => void,
): (...args: Args) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  return (...args) => {
    const now = performance.now();
    if (now - lastAt < intervalMs) return;
    lastAt = now;
    act(...args);
  };
}
