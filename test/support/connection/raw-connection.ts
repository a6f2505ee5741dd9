// A connection that sends arbitrary bytes, because HTTP clients send only HTTP, and that parses the responses
// strictly: each with its length, in order, and nothing between or after them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from '../exposure.ts';
import type { TestResponse } from '../http.ts';

type Bytes = string | Buffer;

export interface Exchange {
  answers: TestResponse[];
  /** Statuses of interim responses, such as 100. */
  interim: number[];
  /** Bytes after the last complete response. */
  rest: string;
  /** Whether the server has closed the connection. */
  isEnded: boolean;
}

/** Time after which a connection that the server has not closed is assumed to stay open. */
const CLOSE_TIMEOUT_MS = 20_000;

export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  readonly ended: Promise<void>;

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    // Half-open, so that only the server decides when the connection ends.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true });
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    return connection;
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    // A reset also ends the connection.
    socket.on('error', () => {});
    this.ended = new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    });
  }

  write(bytes: Bytes): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Ends the writing side; reading continues. */
  end(): void {
    this.#socket.end();
  }

  /** Disconnects immediately: with a reset, like a process that dies, or with a regular close. */
  leave(how: 'reset' | 'close' = 'close'): void {
    if (how === 'reset') this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  /** Responses received so far. */
  get exchange(): Omit<Exchange, 'isEnded'> {
    return readAnswers(this.#received);
  }

  /** Waits until the server closes the connection or the timeout expires; then closes it. */
  async finish(timeoutMs = CLOSE_TIMEOUT_MS): Promise<Exchange> {
    const isEnded = await Promise.race([
      this.ended.then(() => true),
      sleep(timeoutMs, false, { ref: false }),
    ]);
    this.leave();
    const { exchange } = this;
    for (const answer of exchange.answers) watch.answered('a raw request', answer);
    return { ...exchange, isEnded };
  }
}

/** Sends the bytes on a new connection and returns the responses until the server closes it. */
export async function exchange(url: string, bytes: Bytes): Promise<Exchange> {
  const connection = await RawConnection.open(url);
  connection.write(bytes);
  return connection.finish();
}

/** Like `exchange`, for requests that get one response and then a closed connection. */
export async function exchangeOne({ url }: { url: string }, ...bytes: Bytes[]): Promise<TestResponse> {
  const connection = await RawConnection.open(url);
  for (const part of bytes) connection.write(part);
  const { answers, rest, isEnded } = await connection.finish();
  assert.deepEqual({ answers: answers.length, rest, isEnded }, { answers: 1, rest: '', isEnded: true });
  return answers[0]!;
}

/** Time that a body takes to arrive: longer than the request may take afterwards. */
const LATE_MS = 2_000;

/** Sends a request whose body arrives late. Runs `meanwhile` before the rest of the body is sent. */
export async function exchangeLate(
  { url }: { url: string },
  { head, body }: { head: readonly string[]; body: string },
  meanwhile: () => Promise<unknown>,
): Promise<TestResponse> {
  const lines = [
    ...head,
    `Host: ${new URL(url).host}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  const connection = await RawConnection.open(url);
  connection.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 1)}`);
  await sleep(LATE_MS);
  await meanwhile();
  connection.write(body.slice(1));
  const { answers } = await connection.finish();
  assert.equal(answers.length, 1);
  return answers[0]!;
}

/** Parses the complete responses; `rest` is the remaining text. */
export function readAnswers(received: string): Omit<Exchange, 'isEnded'> {
  const answers: TestResponse[] = [];
  const interim: number[] = [];
  let rest = received;
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]+\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (head === null) return { answers, interim, rest };
    const status = Number(head[1]);
    const headers = headersOf(head[2]!);
    const end = head[0].length + Number(headers['content-length'] ?? 0);
    if (rest.length < end) return { answers, interim, rest };
    const text = Buffer.from(rest.slice(head[0].length, end), 'latin1').toString();
    rest = rest.slice(end);
    if (status < 200) interim.push(status);
    else answers.push({ status, headers, text, json: jsonOf(headers, text) });
  }
}

/** Parses JSON; returns undefined for other types, such as the error pages of proxies. */
function jsonOf(headers: Record<string, string>, text: string): unknown {
  return headers['content-type']?.includes('json') && text !== '' ? JSON.parse(text) : undefined;
}

function headersOf(lines: string): Record<string, string> {
  const fields = lines.split('\r\n').filter(Boolean);
  return Object.fromEntries(
    fields.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]),
  );
}
