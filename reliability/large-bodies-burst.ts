// A burst of concurrent requests, one per connection, sent from a worker thread.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Burst {
  url: string;
  /** Complete requests, used round-robin. */
  requests: readonly Uint8Array[];
  count: number;
}

export interface BurstResponse {
  /** 0 if there was no response. */
  status: number;
  code: string | null;
  hasRetryAfter: boolean;
  /** Time since the burst was sent. */
  tookMs: number;
}

/** Sends the burst when all connections are open. */
export async function sendBurst(burst: Burst): Promise<BurstResponse[]> {
  const worker = new Worker(new URL(import.meta.url), { workerData: burst });
  const [responses] = await once(worker, 'message');
  await worker.terminate();
  return responses;
}

const RESPONSE_TIMEOUT_MS = 30_000;

function responseOn(socket: Socket, request: Uint8Array, sentAt: number): Promise<BurstResponse> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timeout);
      const tookMs = performance.now() - sentAt;
      resolve({ ...readResponse(Buffer.concat(chunks).toString('latin1')), tookMs });
      socket.destroy();
    };
    const timeout = setTimeout(settle, RESPONSE_TIMEOUT_MS);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (isComplete(Buffer.concat(chunks).toString('latin1'))) settle();
    });
    socket.on('close', settle);
    socket.write(request);
  });
}

function isComplete(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(received)?.[1]);
  return headEnd >= 0 && received.length >= headEnd + 4 + length;
}

function readResponse(received: string): Omit<BurstResponse, 'tookMs'> {
  if (!isComplete(received)) return { status: 0, code: null, hasRetryAfter: false };
  const status = Number(received.slice('HTTP/1.1 '.length, 'HTTP/1.1 '.length + 3));
  const code = status < 400 ? null : (/"code":"(\w+)"/.exec(received)?.[1] ?? null);
  return { status, code, hasRetryAfter: /\r\nretry-after: [1-9]/i.test(received) };
}

async function run({ url, requests, count }: Burst): Promise<BurstResponse[]> {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port) }));
  for (const socket of sockets) socket.on('error', () => {});
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  const sentAt = performance.now();
  return Promise.all(
    sockets.map((socket, index) => responseOn(socket, requests[index % requests.length]!, sentAt)),
  );
}

if (!isMainThread) parentPort?.postMessage(await run(workerData as Burst));
