// A connection that can be given up, and that knows whether it leads to a server that only follows another one.
//
// Ending one in order asks for it, and a network that is silent now delivers that later, together with the statement
// before: an update would be done long after its caller was told that it failed, over one that was acknowledged since.

import { Socket } from 'node:net';
import pg from 'pg';

export class Connection extends pg.Client {
  readonly #socket: Socket;
  readonly #openedAt = performance.now();
  /** Set by the pool: connections of an earlier generation are not used any more. */
  generation = 0;
  #isStandby = false;

  constructor(config: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
    // Whoever runs a statement is told; without a listener the process would end.
    this.on('error', () => {});
    // PostgreSQL says so by itself, when the session begins and when it changes.
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      if (parameterName === 'in_hot_standby') this.#isStandby = parameterValue === 'on';
    });
  }

  get ageMs(): number {
    return performance.now() - this.#openedAt;
  }

  /**
   * A standby may be behind: it would still resolve a token that has been rotated, and show a group as it was. Throws
   * where the server is one.
   */
  async refuseStandby(): Promise<void> {
    if (!this.#isStandby) return;
    // PgBouncer goes on saying what was true when it first met the server; the server itself knows better.
    const query = { text: 'select pg_is_in_recovery()', rowMode: 'array' as const };
    const { rows } = await this.query<[string]>(query);
    if (rows[0]?.[0] !== 'f') throw new Error('the server is a standby, which may be behind');
    this.#isStandby = false;
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
