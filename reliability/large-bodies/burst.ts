// A burst of concurrent requests, one per connection, sent from a worker thread.

import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Connection, codeOf, hasRetryAfter } from '../support/connection.ts';

interface Burst {
  url: string;
  /** Complete requests, sent round-robin. */
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

async function responseTo(
  connection: Connection,
  request: Uint8Array,
  sentAt: number,
): Promise<BurstResponse> {
  const timeout = setTimeout(() => connection.socket.destroy(), RESPONSE_TIMEOUT_MS);
  const reply = await connection.exchange(request);
  const tookMs = performance.now() - sentAt;
  clearTimeout(timeout);
  connection.socket.destroy();
  if (reply === null) return { status: 0, code: null, hasRetryAfter: false, tookMs };
  return { status: reply.status, code: codeOf(reply), hasRetryAfter: hasRetryAfter(reply), tookMs };
}

async function run({ url, requests, count }: Burst): Promise<BurstResponse[]> {
  const connections = Array.from({ length: count }, () => new Connection(url));
  await Promise.all(connections.map(({ socket }) => once(socket, 'connect')));
  const sentAt = performance.now();
  return Promise.all(
    connections.map((connection, index) =>
      responseTo(connection, requests[index % requests.length]!, sentAt),
    ),
  );
}

if (!isMainThread) parentPort?.postMessage(await run(workerData as Burst));
