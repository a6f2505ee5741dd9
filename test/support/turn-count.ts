// Counts events in each turn of the event loop, and sends requests that arrive in the same turn.

import { RawConnection } from './connection/raw-connection.ts';
import { eventually } from './process.ts';

export class TurnCount {
  #count = 0;
  /** Largest count in one turn. */
  most = 0;

  add(): void {
    if (this.#count === 0)
      setImmediate(() => {
        this.#count = 0;
      });
    this.most = Math.max(this.most, ++this.#count);
  }
}

/** Opens connections. Each call of `send` sends a request on all of them and waits for the responses. */
export async function openRounds(url: string, count: number, path: string) {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(url)));
  let rounds = 0;
  return {
    async send(): Promise<void> {
      rounds++;
      for (const connection of connections) connection.write(`GET ${path} HTTP/1.1\r\nHost: test\r\n\r\n`);
      await eventually('all responses', () =>
        connections.every(({ exchange }) => exchange.answers.length === rounds),
      );
    },
    [Symbol.dispose](): void {
      for (const connection of connections) connection.leave();
    },
  };
}
