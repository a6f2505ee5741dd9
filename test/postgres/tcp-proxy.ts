// A TCP proxy between the service and PostgreSQL, which does what networks do.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #target: URL;
  readonly #pairs = new Set<[client: Socket, server: Socket]>();
  #mode: 'pass' | 'refuse' | 'silent' = 'pass';
  #losing: string | null = null;
  #replacing: [text: string, by: string] | null = null;
  /** What clients have sent. */
  readonly sent: Buffer[] = [];

  static async start(targetUrl: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(targetUrl));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** The URL of the target, through the proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String((this.#server.address() as { port: number }).port);
    return url.href;
  }

  /** New connections pass again; those that were cut or went silent do not come back. */
  pass(): void {
    this.#mode = 'pass';
  }

  /** Ends all connections, and each new one at once. */
  refuse(): void {
    this.#mode = 'refuse';
    this.cut();
  }

  /** Swallows everything from now on, both ways, and ends nothing. */
  silence(): void {
    this.#mode = 'silent';
    for (const [client, server] of this.#pairs) {
      client.removeAllListeners('data').resume();
      server.removeAllListeners('data').resume();
    }
  }

  cut(): void {
    for (const [client, server] of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Cuts the connection when the answer comes to the next message that holds the text: it is done, and nobody is told. */
  loseAnswerTo(text: string): void {
    this.#losing = text;
  }

  /** Lets the server say something else, of the same length. */
  replace(text: string, by: string): void {
    this.#replacing = [text, by];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#mode === 'refuse') {
      client.destroy();
      return;
    }
    const server = connect(Number(this.#target.port), this.#target.hostname);
    const pair: [Socket, Socket] = [client, server];
    this.#pairs.add(pair);
    for (const [socket, other] of [pair, pair.toReversed() as [Socket, Socket]]) {
      // What comes of an error is that the connection closes.
      socket.on('error', () => {});
      socket.on('close', () => {
        other.destroy();
        this.#pairs.delete(pair);
      });
    }
    if (this.#mode === 'silent') {
      client.resume();
      return;
    }
    let losing = false;
    client.on('data', (chunk: Buffer) => {
      this.sent.push(chunk);
      if (this.#losing !== null && chunk.includes(this.#losing)) {
        losing = true;
        this.#losing = null;
      }
      server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (losing) client.destroy();
      else client.write(this.#replaced(chunk));
    });
  }

  #replaced(chunk: Buffer): Buffer {
    if (this.#replacing === null) return chunk;
    return Buffer.from(chunk.toString('latin1').replaceAll(...this.#replacing), 'latin1');
  }
}
