// A connection that sends whatever bytes it is told to, since no HTTP client sends what is no HTTP, and that reads
// the answers strictly: each with its length, in order, and nothing between or after them.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { watch } from './exposure.ts';
import type { TestAnswer } from './http.ts';

type Bytes = string | Buffer;

export interface Exchange {
  answers: TestAnswer[];
  /** The statuses of interim answers, such as 100. */
  interim: number[];
  /** Bytes that are no answer, or part of one. */
  rest: string;
  /** Whether the server has ended the connection. */
  isEnded: boolean;
}

/** A server that has not ended the connection after this time is taken to leave it open. */
const PATIENCE_MS = 4_000;
const ONE_ANSWER_WITHIN_MS = 20_000;

export class RawConnection {
  readonly #socket: Socket;
  #received = '';
  readonly ended: Promise<void>;

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    // The server ends the connection, not this side in return.
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
    // A reset is an end as well.
    socket.on('error', () => {});
    this.ended = new Promise((resolve) => {
      socket.once('end', resolve);
      socket.once('close', resolve);
    });
  }

  write(bytes: Bytes): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Says that nothing more will be sent, and goes on reading. */
  end(): void {
    this.#socket.end();
  }

  /** Goes away at once: with a reset, as a process that dies, or in order, as one that closes. */
  leave(how: 'reset' | 'close' = 'close'): void {
    if (how === 'reset') this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  /** What has arrived so far. */
  get exchange(): Omit<Exchange, 'isEnded'> {
    return readAnswers(this.#received);
  }

  /** Waits until the server ends the connection, or for as long as there is patience; then closes it. */
  async finish(patienceMs = PATIENCE_MS): Promise<Exchange> {
    const isEnded = await Promise.race([
      this.ended.then(() => true),
      sleep(patienceMs, false, { ref: false }),
    ]);
    this.leave();
    const { exchange } = this;
    for (const answer of exchange.answers) watch.answered('a request byte for byte', answer);
    return { ...exchange, isEnded };
  }
}

/** Sends the bytes on a connection of their own and returns what comes back until the server ends it. */
export async function exchange(url: string, bytes: Bytes): Promise<Exchange> {
  const connection = await RawConnection.open(url);
  connection.write(bytes);
  return connection.finish();
}

/** As `exchange`, for what has one answer and then no connection. */
export async function exchangeOne({ url }: { url: string }, ...bytes: Bytes[]): Promise<TestAnswer> {
  const connection = await RawConnection.open(url);
  for (const part of bytes) connection.write(part);
  const { answers, rest, isEnded } = await connection.finish(ONE_ANSWER_WITHIN_MS);
  assert.deepEqual({ answers: answers.length, rest, isEnded }, { answers: 1, rest: '', isEnded: true });
  return answers[0]!;
}

/** The answers at the beginning of what was received, and what comes after them. */
export function readAnswers(received: string): Omit<Exchange, 'isEnded'> {
  const answers: TestAnswer[] = [];
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

/** A proxy answers with pages of its own. */
function jsonOf(headers: Record<string, string>, text: string): unknown {
  return headers['content-type']?.includes('json') && text !== '' ? JSON.parse(text) : undefined;
}

function headersOf(lines: string): Record<string, string> {
  const fields = lines.split('\r\n').filter(Boolean);
  return Object.fromEntries(
    fields.map((line) => [line.split(':', 1)[0]!.toLowerCase(), line.replace(/^[^:]*:\s*/, '')]),
  );
}
