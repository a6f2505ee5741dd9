// Runs the server of a test on a free port of the loopback interface.

import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** Disposal closes all connections. */
export class LoopbackServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Number of connections opened so far. */
  connections = 0;

  static async listen(server: Server): Promise<LoopbackServer> {
    const listening = new LoopbackServer(server);
    await listening.listen();
    return listening;
  }

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections++;
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Number of connections that the clients have not closed. */
  get openConnections(): number {
    return this.#sockets.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
