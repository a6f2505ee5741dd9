// GET /metrics, on an address of its own: metrics are for the operator, not for callers, and need no API token.

import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import { AddressInUse, ConfigInvalid } from '../config.ts';
import { Problem } from '../problem.ts';
import { http } from '../system/http.ts';
import { requestId } from './log/request-id.ts';
import { httpStatus, methodNotAllowed, PROBLEM_TYPE, problemBody, toProblem } from './response/problem.ts';

const TIMEOUT_MS = 5_000;
/** Longer than usual scrape intervals: a scraper must not send while the connection is being closed. */
const KEEP_ALIVE_MS = 65_000;
const MAX_CONNECTIONS = 32;
const ALLOW = 'GET, HEAD';

interface RenderedMetrics {
  readonly contentType: string;
  render(): Promise<string>;
}

export interface MetricsServer {
  /** The URL of the metrics, such as `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Throws `AddressInUse`, and `ConfigInvalid` if it cannot listen on the address for another reason. */
export async function startMetricsServer(
  { host, port }: { host: string; port: number },
  metrics: RenderedMetrics,
  log: Logger,
): Promise<MetricsServer> {
  const options = {
    requestTimeout: TIMEOUT_MS,
    headersTimeout: TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
  };
  const server = http.createServer(options, responder(metrics, log));
  closeIdleBeyond(server, MAX_CONNECTIONS);
  server.listen(port, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, `${host}:${port}`);
  });
  const { family, address, port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actual}/metrics`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Returns the function that responds to requests. Concurrent scrapes share one rendering. */
function responder(metrics: RenderedMetrics, log: Logger): RequestListener {
  let rendering: Promise<string> | null = null;
  return async (request, response) => {
    const id = requestId(request);
    response.setHeader('x-request-id', id);
    response.setHeader('cache-control', 'no-store');
    try {
      refuseOther(request.method, request.url);
      rendering ??= metrics.render().finally(() => {
        rendering = null;
      });
      const text = await rendering;
      response.setHeader('content-type', metrics.contentType).end(text);
    } catch (error) {
      const problem = toProblem(error);
      if (httpStatus(problem) >= 500) log.error({ requestId: id, err: error }, 'cannot collect metrics');
      if (problem.code === 'method_not_allowed') response.setHeader('allow', ALLOW);
      response.writeHead(httpStatus(problem), { 'content-type': PROBLEM_TYPE }).end(problemBody(problem, id));
    }
  };
}

function listenError({ code, message }: NodeJS.ErrnoException, address: string): Error {
  if (code !== 'EADDRINUSE') return new ConfigInvalid(`UGS_METRICS_ADDRESS cannot be used: ${message}`);
  return new AddressInUse(
    `UGS_METRICS_ADDRESS ${address} is already in use; each process needs an address of its own`,
  );
}

/** Closes the oldest idle connection beyond `max`, so that idle ones do not keep a scraper out. */
function closeIdleBeyond(server: Server, max: number): void {
  /** Idle connections, in the order in which they were opened or completed a request. */
  const idle = new Set<Socket>();
  let open = 0;
  server.on('connection', (socket) => {
    open++;
    idle.add(socket);
    socket.once('close', () => {
      open--;
      idle.delete(socket);
    });
    if (open > max) idle.values().next().value!.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    response.once('close', () => !socket.destroyed && idle.add(socket));
  });
}

function refuseOther(method = '', url = ''): void {
  if (url.split('?', 1)[0] !== '/metrics')
    throw new Problem('not_found', 'This address serves only /metrics.');
  if (method !== 'GET' && method !== 'HEAD') throw methodNotAllowed(ALLOW);
}
