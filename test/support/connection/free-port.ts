import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Returns a free port below those that systems choose, for connections and for port 0: nothing else takes it
 * before a server of the test listens on it, or between a stop and the next start.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(16_384, 32_768);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EADDRINUSE') resolve(false);
      else reject(new Error(`cannot listen on port ${port}: ${code}`));
    });
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
