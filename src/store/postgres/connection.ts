// A connection that can be given up. Ending one in order asks for it, and a network that is silent now delivers
// that later, together with the statement before: an update would be done long after its caller was told that it
// failed, over one that was acknowledged since.

import { Socket } from 'node:net';
import pg from 'pg';

export class Connection extends pg.Client {
  readonly #socket: Socket;
  /** Set by the pool: connections of an earlier generation are not used any more. */
  generation = 0;

  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // Whoever runs a statement is told; without a listener the process would end.
    this.on('error', () => {});
  }

  /** Lets the process end although the connection is open. */
  unref(): void {
    this.#socket.unref();
  }

  /** Closes the connection, and takes back what has not reached the server. */
  abandon(): void {
    try {
      // The server has closed its side where ours is ended too. A reset would fail then, and Node would never
      // close the socket, nor end.
      if (this.#socket.writable) this.#socket.resetAndDestroy();
    } catch {
      // A Unix socket knows no reset, and has no network behind it that holds anything back.
    }
    this.#socket.destroy();
  }
}
