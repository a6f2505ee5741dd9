// The way from the service to PostgreSQL, with all that can go wrong on it. It does to bytes what networks do, and
// as it knows where a request and an answer end, it does so at the worst moment.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import {
  endsRequest,
  MessageSplitter,
  readyState,
  refusal,
  type ServerError,
  subjectsOf,
} from './protocol.ts';

/**
 * What becomes of a request: it passes; it never arrives and the connection breaks; it is done, and the connection
 * breaks after so many bytes of the answer; it is lost on a connection that from then on is silent; or the server
 * refuses it.
 */
export type Fate = 'pass' | 'cut' | { answerBytes: number } | 'silence' | ServerError;

/** Of a request that is the name of a prepared statement, or the text of a simple one such as "commit". */
type Decision = (subject: string) => Fate;

export class FaultProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  #port = 0;
  /** Where new connections lead. */
  target: URL;
  /** How much later than sent an answer arrives. */
  delayMs = 0;
  decide: Decision = () => 'pass';
  /** What a message of the server is when it arrives. */
  rewrite: (message: Buffer) => Buffer = (message) => message;
  #isSilent = false;
  /** Is shown what clients ask. */
  listen: (bytes: Buffer) => void = () => {};
  /** How many connections have been opened. */
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
      const connection = new Connection(this, client, this.#isSilent);
      this.#connections.add(connection);
      client.on('close', () => this.#connections.delete(connection));
    });
  }

  /** The target, on the way through the proxy. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** How many connections are open. */
  get open(): number {
    return this.#connections.size;
  }

  async accept(): Promise<void> {
    if (this.#server.listening) return;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as { port: number }).port;
  }

  /** Nothing listens any more, and what is open breaks. */
  async refuse(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Bytes are taken and not delivered; nobody is told. Connections that are opened later are silent too or not. */
  silence(which: 'all' | 'open'): void {
    this.#isSilent = which === 'all';
    for (const connection of this.#connections) connection.silence();
  }

  /** Everything is silent once a request of the subject has come. */
  silenceAfter(subject: string): void {
    void this.once(subject, 'silence').then(() => this.silence('all'));
  }

  /** What was held back is delivered, as by a network that works again, save what its sender has given up. */
  heal(): void {
    this.#isSilent = false;
    this.decide = () => 'pass';
    for (const connection of this.#connections) connection.heal();
  }

  /** The next request of the subject, and no other, has this fate. Resolves when it has come. */
  once(subject: string | RegExp, fate: Fate): Promise<void> {
    return new Promise((resolve) => {
      this.decide = (candidate) => {
        if (typeof subject === 'string' ? candidate !== subject : !subject.test(candidate)) return 'pass';
        this.decide = () => 'pass';
        resolve();
        return fate;
      };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.refuse();
  }
}

/** A client and its server. */
class Connection {
  readonly #proxy: FaultProxy;
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #fromClient = new MessageSplitter('client');
  readonly #fromServer = new MessageSplitter('server');
  /** What waits for the silence to end; null while there is none. */
  #held: (() => void)[] | null;
  /** The state of the transaction; null before the session has begun. */
  #state: string | null = null;
  #request: Buffer[] = [];
  /** The answer of which a part will be lost, and how much will not. */
  #losing: { bytes: number; answer: Buffer[] } | null = null;

  constructor(proxy: FaultProxy, client: Socket, isSilent: boolean) {
    this.#proxy = proxy;
    this.#client = client;
    this.#held = isSilent ? [] : null;
    const { hostname, port } = proxy.target;
    this.#server = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    client.on('data', (bytes: Buffer) => this.#deliver(() => this.#ask(bytes)));
    client.on('end', () => this.#deliver(() => this.#server.end()));
    client.on('error', () => {
      // A sender that resets its end of the connection takes back what has not arrived.
      if (this.#held !== null) this.#held = [];
      this.#deliver(() => reset(this.#server));
    });
    this.#server.on('data', (bytes: Buffer) => this.#deliver(() => this.#answer(bytes)));
    this.#server.on('end', () => this.#deliver(() => this.#client.end()));
    this.#server.on('error', () => this.#deliver(() => reset(this.#client)));
  }

  cut(): void {
    reset(this.#client);
    reset(this.#server);
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

  #ask(bytes: Buffer): void {
    this.#proxy.listen(bytes);
    for (const message of this.#fromClient.push(bytes)) {
      this.#request.push(message);
      if (this.#state !== null && !endsRequest(message)) continue;
      this.#meetFate(this.#request, this.#state === null ? 'pass' : this.#fateOf(this.#request));
      this.#request = [];
    }
  }

  /** That of the first statement in it that has one. */
  #fateOf(request: readonly Buffer[]): Fate {
    for (const subject of subjectsOf(request)) {
      const fate = this.#proxy.decide(subject);
      if (fate !== 'pass') return fate;
    }
    return 'pass';
  }

  #meetFate(request: readonly Buffer[], fate: Fate): void {
    if (fate === 'cut') {
      this.cut();
    } else if (typeof fate === 'object' && 'code' in fate) {
      this.#client.write(refusal(fate, this.#state!));
    } else {
      if (fate === 'silence') this.silence();
      if (typeof fate === 'object') this.#losing = { bytes: fate.answerBytes, answer: [] };
      this.#deliver(() => this.#server.write(Buffer.concat(request)));
    }
  }

  #answer(bytes: Buffer): void {
    for (const message of this.#fromServer.push(bytes)) {
      this.#state = readyState(message) ?? this.#state;
      const arriving = this.#proxy.rewrite(message);
      if (this.#losing === null) this.#send(arriving);
      else this.#lose(this.#losing, arriving);
    }
  }

  /** The answer is whole when the server is ready for the next request: all that it was asked for is done. */
  #lose({ bytes, answer }: { bytes: number; answer: Buffer[] }, message: Buffer): void {
    answer.push(message);
    if (readyState(message) === null) return;
    this.#client.end(Buffer.concat(answer).subarray(0, bytes));
    reset(this.#server);
  }

  #send(message: Buffer): void {
    if (this.#proxy.delayMs === 0) this.#client.write(message);
    else setTimeout(() => this.#deliver(() => this.#client.write(message)), this.#proxy.delayMs);
  }
}

/** A socket whose side is ended cannot be reset: Node would never close it, and the process never end. */
function reset(socket: Socket): void {
  if (socket.writable) socket.resetAndDestroy();
  else socket.destroy();
}
