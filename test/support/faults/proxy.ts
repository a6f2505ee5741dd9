// TCP proxy between the service and PostgreSQL that injects network faults. It parses message boundaries, so
// that the faults happen at the worst moments.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  endsRequest,
  isFatal,
  MessageSplitter,
  readyState,
  rejection,
  type ServerError,
  subjectsOf,
} from './protocol.ts';

/**
 * Action on a request: it is forwarded; it is dropped and the connection is reset; it is executed, and the
 * connection is closed after some bytes of the response; the connection is reset, and the request is executed
 * later; it is dropped, and the connection forwards nothing afterwards; or it is rejected with an error of
 * the server.
 */
export type RequestAction =
  | 'pass'
  | 'cut'
  | { responseBytes: number }
  | LateRequest
  | 'silence'
  | ServerError;

interface LateRequest {
  /** Resolves when the server gets the request. */
  sent: Promise<void>;
  /** Called when the server has executed the request. */
  onExecuted: () => void;
}

/**
 * Chooses an action. The subject is the name of a prepared statement, or the text of a simple query such as
 * "commit".
 */
type Decision = (subject: string) => RequestAction;

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  /** Connections to the target, including those whose client is gone: a silence delays their end. */
  readonly #servers = new Set<Socket>();
  #port = 0;
  /** Target of new connections. */
  target: URL;
  /** Delay of each response. */
  delayMs = 0;
  decide: Decision = () => 'pass';
  /** Replaces messages of the server. */
  rewrite: (message: Buffer) => Buffer = (message) => message;
  /** Whether all connections are silent. */
  isSilent = false;
  /** Receives everything that clients send. */
  onClientData: (bytes: Buffer) => void = () => {};
  /** Number of connections opened so far. */
  opened = 0;

  static async start(targetUrl: string): Promise<FaultProxy> {
    const proxy = new FaultProxy(new URL(targetUrl));
    await proxy.accept();
    return proxy;
  }

  private constructor(target: URL) {
    this.target = target;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      this.opened++;
      const connection = new Connection(this, client, this.isSilent);
      this.#connections.add(connection);
      this.#servers.add(connection.server);
      connection.server.on('close', () => this.#servers.delete(connection.server));
      client.on('close', () => this.#connections.delete(connection));
    });
  }

  /** URL of the target through the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** Number of open connections. */
  get open(): number {
    return this.#connections.size;
  }

  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as { port: number }).port;
  }

  /** Stops listening and resets all open connections. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Holds all bytes back without an error, on all connections or only on those open now. */
  silence(which: 'all' | 'open'): void {
    this.isSilent = which === 'all';
    for (const connection of this.#connections) connection.silence();
  }

  /** Silences all connections once a request of the subject has arrived. */
  silenceAfter(subject: string): void {
    void this.once(subject, 'silence').then(() => this.silence('all'));
  }

  /**
   * Ends the silence: forwards the held bytes as a recovered network does, except those of reset connections.
   */
  heal(): void {
    this.isSilent = false;
    this.decide = () => 'pass';
    for (const connection of this.#connections) connection.heal();
  }

  /** Applies the action only to the next request of the subject. Resolves when that request has arrived. */
  once(subject: string | RegExp, action: RequestAction): Promise<void> {
    return new Promise((resolve) => {
      this.decide = (candidate) => {
        if (typeof subject === 'string' ? candidate !== subject : !subject.test(candidate)) return 'pass';
        this.decide = () => 'pass';
        resolve();
        return action;
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.refuse();
    for (const server of this.#servers) server.destroy();
  }
}

/** Connection of a client to the server. */
class Connection {
  readonly #proxy: FaultProxy;
  readonly #client: Socket;
  readonly server: Socket;
  readonly #fromClient = new MessageSplitter('client');
  readonly #fromServer = new MessageSplitter('server');
  /** Deliveries that a silence holds back; null if there is none. */
  #held: (() => void)[] | null;
  /** Messages of the server that wait for the delay. */
  readonly #delayed: Buffer[] = [];
  /** Transaction status; null before the session has started. */
  #state: string | null = null;
  #request: Buffer[] = [];
  /** Response to cut, and number of its bytes to forward. */
  #cutting: { bytes: number; response: Buffer[] } | null = null;
  #late: LateRequest | null = null;

  constructor(proxy: FaultProxy, client: Socket, isSilent: boolean) {
    this.#proxy = proxy;
    this.#client = client;
    this.#held = isSilent ? [] : null;
    const { hostname, port } = proxy.target;
    this.server = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    client.on('data', (bytes: Buffer) => this.#deliver(() => this.#forwardRequest(bytes)));
    client.on('end', () => this.#deliver(() => this.server.end()));
    client.on('error', () => {
      // A reset by the sender discards everything that has not arrived.
      if (this.#held !== null) this.#held = [];
      this.#deliver(() => reset(this.server));
    });
    this.server.on('data', (bytes: Buffer) => this.#deliver(() => this.#forwardResponse(bytes)));
    this.server.on('end', () => this.#deliver(() => this.#client.end()));
    this.server.on('error', () => this.#deliver(() => reset(this.#client)));
  }

  cut(): void {
    reset(this.#client);
    reset(this.server);
  }

  silence(): void {
    this.#held ??= [];
  }

  heal(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const deliver of held) deliver();
  }

  #deliver(delivery: () => void): void {
    if (this.#held === null) delivery();
    else this.#held.push(delivery);
  }

  #forwardRequest(bytes: Buffer): void {
    this.#proxy.onClientData(bytes);
    for (const message of this.#fromClient.push(bytes)) {
      this.#request.push(message);
      if (this.#state !== null && !endsRequest(message)) continue;
      this.#applyAction(this.#request, this.#state === null ? 'pass' : this.#actionFor(this.#request));
      this.#request = [];
    }
  }

  /** Returns the action for the first statement that has one. */
  #actionFor(request: readonly Buffer[]): RequestAction {
    for (const subject of subjectsOf(request)) {
      const action = this.#proxy.decide(subject);
      if (action !== 'pass') return action;
    }
    return 'pass';
  }

  #applyAction(request: readonly Buffer[], action: RequestAction): void {
    if (action === 'cut') {
      this.cut();
    } else if (typeof action === 'object' && 'code' in action) {
      this.#write(rejection(action, this.#state!));
    } else if (typeof action === 'object' && 'sent' in action) {
      this.#late = action;
      reset(this.#client);
      void action.sent.then(() => this.server.write(Buffer.concat(request)));
    } else {
      if (action === 'silence') this.silence();
      if (typeof action === 'object') this.#cutting = { bytes: action.responseBytes, response: [] };
      this.#deliver(() => this.server.write(Buffer.concat(request)));
    }
  }

  #forwardResponse(bytes: Buffer): void {
    for (const message of this.#fromServer.push(bytes)) {
      this.#state = readyState(message) ?? this.#state;
      if (this.#late !== null) {
        if (readyState(message) !== null) this.#late.onExecuted();
        continue;
      }
      const arriving = this.#proxy.rewrite(message);
      if (this.#cutting === null) this.#send(arriving);
      else this.#cutResponse(this.#cutting, arriving);
    }
  }

  /**
   * Cuts the response once it is complete. It is complete when the server is ready for the next request, so
   * the whole request has been executed.
   */
  #cutResponse({ bytes, response }: { bytes: number; response: Buffer[] }, message: Buffer): void {
    response.push(message);
    if (readyState(message) === null) return;
    this.#client.end(Buffer.concat(response).subarray(0, bytes));
    reset(this.server);
  }

  #send(message: Buffer): void {
    const { delayMs } = this.#proxy;
    if (delayMs === 0 && this.#delayed.length === 0) {
      this.#write(message);
      return;
    }
    this.#delayed.push(message);
    // The oldest message, because the delay may have become shorter.
    setTimeout(() => {
      const oldest = this.#delayed.shift()!;
      this.#deliver(() => this.#write(oldest));
    }, delayMs);
  }

  #write(message: Buffer): void {
    this.#client.write(message);
    if (isFatal(message)) this.#client.end();
  }
}

/**
 * Resets the connection. After end(), a socket cannot be reset: Node would never close it, and the process
 * would hang.
 */
function reset(socket: Socket): void {
  if (socket.writable) socket.resetAndDestroy();
  else socket.destroy();
}
