// One connection of a load generator, with at most one request in flight. It is faster than an HTTP client,
// and can send what no client would.

import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  /** The status line and the headers. */
  head: string;
  /** Body of an error; otherwise empty. */
  body: string;
}

interface RequestParts {
  method: string;
  path: string;
  apiToken?: string | undefined;
  /** Complete header lines without line breaks. */
  headers?: readonly string[];
  body?: string | Uint8Array | undefined;
}

export function requestBytes({
  method,
  path,
  apiToken,
  headers = [],
  body = '',
}: RequestParts): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(body);
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: rig',
    ...(apiToken === undefined ? [] : [`Authorization: Token ${apiToken}`]),
    ...headers,
    ...(bytes.length === 0 ? [] : [`Content-Length: ${bytes.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

/** Receives the reply; null if the connection was closed before the end of the response. */
type OnReply = (reply: Reply | null) => void;

export class Connection {
  readonly socket: Socket;
  #head = '';
  #status = 0;
  #errorBody: Buffer[] = [];
  /** Bytes of the response that have not arrived yet; null until its head has arrived. */
  #missing: number | null = null;
  #onReply: OnReply | null = null;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.socket.on('data', (chunk: Buffer) => this.#read(chunk));
    this.socket.on('error', () => {});
    this.socket.on('close', () => this.#settle(null));
  }

  get isOpen(): boolean {
    return this.socket.writable;
  }

  send(request: Uint8Array, onReply: OnReply): void {
    this.receive(onReply);
    this.socket.write(request);
  }

  /** Receives the response to a request that the caller writes itself. */
  receive(onReply: OnReply): void {
    this.#onReply = onReply;
    if (this.socket.destroyed) this.#settle(null);
  }

  exchange(request: Uint8Array): Promise<Reply | null> {
    return new Promise((resolve) => this.send(request, resolve));
  }

  #read(chunk: Buffer): void {
    const rest = this.#missing === null ? this.#readHead(chunk) : chunk;
    if (rest === null) return;
    if (this.#status >= 400) this.#errorBody.push(rest);
    this.#missing! -= rest.length;
    if (this.#missing! > 0) return;
    const reply = {
      status: this.#status,
      head: this.#head,
      body: Buffer.concat(this.#errorBody).toString('latin1'),
    };
    this.#head = '';
    this.#missing = null;
    this.#errorBody = [];
    this.#settle(reply);
  }

  /** Returns the bytes after the head; null if the head is incomplete. */
  #readHead(chunk: Buffer): Buffer | null {
    const before = this.#head.length;
    this.#head += chunk.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n', Math.max(0, before - 3));
    if (end < 0) return null;
    this.#head = this.#head.slice(0, end + 2);
    this.#status = Number(this.#head.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3));
    this.#missing = Number(/\r\ncontent-length: (\d+)/i.exec(this.#head)?.[1] ?? 0);
    return chunk.subarray(end + 4 - before);
  }

  #settle(reply: Reply | null): void {
    const onReply = this.#onReply;
    this.#onReply = null;
    onReply?.(reply);
  }
}

/** The error code of a problem; null for any other reply. */
export function codeOf({ body }: Reply): string | null {
  return /"code":"(\w+)"/.exec(body)?.[1] ?? null;
}

/** The detail of a problem; null for any other reply. */
export function detailOf({ body }: Reply): string | null {
  return /"detail":"((?:[^"\\]|\\.)*)"/.exec(body)?.[1] ?? null;
}

/** Whether the reply tells the caller when to retry. */
export function hasRetryAfter({ head }: Reply): boolean {
  return /\r\nretry-after: [1-9]/i.test(head);
}
