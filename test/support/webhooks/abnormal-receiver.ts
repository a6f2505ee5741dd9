// Receivers of webhooks that do not speak HTTP as they should: raw TCP servers, one per form of misbehaviour.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { LoopbackServer } from '../connection/loopback-server.ts';
import { countRequests } from '../connection/raw-request.ts';

interface AbnormalForm {
  /** Called when a request has arrived completely. */
  respond?: (socket: Socket) => unknown;
  /** Called when a connection is open, before a request has arrived. */
  accept?: (socket: Socket) => unknown;
  protocol?: 'https';
}

const HEADER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n';
const RESPONSE = `${HEADER}ok`;
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const EMPTY = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
/** First frame of an HTTP/2 server: empty settings. */
const HTTP2_SETTINGS = Buffer.from('000000040000000000', 'hex');
const FLOOD_BYTES = 16_384;
const DRIP_MS = 20;
const PAUSE_MS = 20;

const says =
  (...parts: (string | Buffer)[]) =>
  (socket: Socket) => {
    for (const part of parts) socket.write(part);
  };

const saysAndEnds = (text: string) => (socket: Socket) => socket.end(text);

const saysAndResets = (text: string) => async (socket: Socket) => {
  if (text !== '') socket.write(text);
  // Waits, because a reset discards what the peer has not read: a peer in the same process has read it after
  // a turn of the event loop.
  await sleep(PAUSE_MS);
  await nextTurn();
  socket.resetAndDestroy();
};

/** Sends data as fast as the peer reads. */
const floods = (start: string, more: string) => async (socket: Socket) => {
  const block = more.repeat(Math.ceil(FLOOD_BYTES / more.length));
  let isFull = !socket.write(start);
  while (!socket.destroyed) {
    if (isFull) await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => {});
    else await nextTurn();
    isFull = !socket.destroyed && !socket.write(block);
  }
};

/** Sends data slowly enough to stay below every size limit. */
const drips = (start: string, more: string) => (socket: Socket) => {
  socket.write(start);
  const timer = setInterval(() => socket.write(more), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
};

const interim = (status: number) => `HTTP/1.1 ${status} Interim\r\nLink: </a>\r\n\r\n`;
const switching = (protocol: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;

const resets = Object.fromEntries(
  Array.from({ length: RESPONSE.length + 1 }, (_, bytes) => [
    `reset after ${bytes} of ${RESPONSE.length} bytes`,
    { respond: saysAndResets(RESPONSE.slice(0, bytes)) },
  ]),
) as Record<`reset after ${number} of ${number} bytes`, AbnormalForm>;

const forms = {
  '101 without a protocol': { respond: says('HTTP/1.1 101 Switching Protocols\r\n\r\n') },
  '101 to h2c': { respond: says(switching('h2c'), HTTP2_SETTINGS) },
  '101 to websocket': { respond: says(switching('websocket'), Buffer.from([0x81, 0x02, 0x68, 0x69])) },
  '101 and closed': { respond: saysAndEnds(switching('websocket')) },
  '100 before the response': { respond: says(interim(100), RESPONSE) },
  '103 before the response': { respond: says(interim(103), RESPONSE) },
  '100 without a response': { respond: says(interim(100)) },
  'endless 100': { respond: floods('', interim(100)) },
  'endless 102': { respond: floods('', interim(102)) },
  'endless 103': { respond: floods('', interim(103)) },
  'slow endless 103': { respond: drips('', interim(103)) },
  trailers: { respond: says(CHUNKED, '2\r\nok\r\n0\r\nX-Trailer: a\r\n\r\n') },
  'endless trailers': { respond: floods(`${CHUNKED}0\r\n`, 'X-Trailer: a\r\n') },
  'half-closed before the status line': { respond: (socket) => socket.end() },
  'half-closed in the status line': { respond: saysAndEnds('HTTP/1.1 2') },
  'half-closed after the status line': { respond: saysAndEnds('HTTP/1.1 200 OK\r\n') },
  'half-closed on accepting': { accept: (socket) => socket.end() },
  'closed on accepting': { accept: (socket) => socket.destroy() },
  'no response': { respond: () => {} },
  'nothing read': { accept: (socket) => socket.pause() },
  'endless headers': { respond: floods('HTTP/1.1 200 OK\r\n', 'X-Header: a\r\n') },
  'slow endless headers': { respond: drips('HTTP/1.1 200 OK\r\n', 'X-Header: a\r\n') },
  'an endless header': { respond: floods('HTTP/1.1 200 OK\r\nX-Header: ', 'a') },
  'headers without an end': { respond: says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n') },
  'an endless body': { respond: floods('HTTP/1.1 200 OK\r\n\r\n', 'a') },
  'a slow endless body': { respond: drips('HTTP/1.1 200 OK\r\n\r\n', 'a') },
  'endless chunks': { respond: floods(CHUNKED, '1\r\na\r\n') },
  'endless chunk extensions': { respond: floods(CHUNKED, `1;${'a'.repeat(8_000)}\r\na\r\n`) },
  'endless empty lines': { respond: floods('', '\r\n') },
  garbage: { respond: says(Buffer.from('\0\x01\x02 this is not HTTP \xff\r\n\r\n', 'latin1')) },
  'endless garbage': { respond: floods('', '\0') },
  'HTTP/2': { accept: says(HTTP2_SETTINGS) },
  'a response before the request': { accept: says(RESPONSE) },
  'a refusal before the request': {
    accept: saysAndEnds('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'),
  },
  'a body shorter than its length': {
    respond: saysAndEnds('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok'),
  },
  'a body that never arrives': { respond: says('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok') },
  'a body longer than its length': { respond: says(`${RESPONSE}and more`) },
  'a negative length': { respond: says('HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok') },
  'two lengths': { respond: says('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok') },
  'a chunk without a size': { respond: says(CHUNKED, 'no size\r\nok\r\n0\r\n\r\n') },
  'a chunk longer than its size': { respond: says(CHUNKED, '1\r\nok\r\n0\r\n\r\n') },
  'chunks without an end': { respond: says(CHUNKED, '2\r\nok\r\n') },
  '204 with a body': { respond: says('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok') },
  'a status of two digits': { respond: says('HTTP/1.1 20 OK\r\n\r\n') },
  'status 999': { respond: says('HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n') },
  'two responses': { respond: says(RESPONSE + RESPONSE) },
  'a late second response': {
    respond: async (socket) => {
      socket.write(RESPONSE);
      await sleep(PAUSE_MS);
      socket.write('HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n');
    },
  },
  'a reset after the response': { respond: saysAndResets(EMPTY) },
  'a TLS handshake without an end': { protocol: 'https', accept: () => {} },
  'plain HTTP instead of TLS': { protocol: 'https', accept: says(RESPONSE) },
  'a reset in the TLS handshake': { protocol: 'https', accept: saysAndResets('') },
  ...resets,
} satisfies Record<string, AbnormalForm>;

export type AbnormalFormName = keyof typeof forms;
export const abnormalForms = Object.keys(forms) as readonly AbnormalFormName[];

class AbnormalReceiver extends LoopbackServer {
  readonly #form: AbnormalForm;
  /** Number of requests that have arrived. */
  received = 0;

  static async start(form: AbnormalFormName): Promise<AbnormalReceiver> {
    const receiver = new AbnormalReceiver(forms[form]);
    await receiver.listen();
    return receiver;
  }

  private constructor(form: AbnormalForm) {
    super(createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#serve(socket)));
    this.#form = form;
  }

  override get url(): string {
    return `${this.#form.protocol ?? 'http'}://127.0.0.1:${this.port}/webhooks`;
  }

  #serve(socket: Socket): void {
    const { accept, respond } = this.#form;
    socket.on('error', () => {});
    // The receiver may still be writing when the sender closes.
    socket.on('end', () => socket.end());
    let unread = '';
    socket.on('data', (bytes: Buffer) => {
      const { requests, rest } = countRequests(unread + bytes.toString('latin1'));
      unread = rest;
      for (let request = 0; request < requests; request++) {
        this.received++;
        void respond?.(socket);
      }
    });
    void accept?.(socket);
  }
}

/** Starts a receiver of each form. */
export async function startAbnormalReceivers(): Promise<Map<AbnormalFormName, AbnormalReceiver>> {
  const started = abnormalForms.map(async (form) => [form, await AbnormalReceiver.start(form)] as const);
  return new Map(await Promise.all(started));
}
