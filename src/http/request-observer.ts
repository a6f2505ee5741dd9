// Observes requests from their arrival until their response is sent. Without observers, requests do no work for this.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isBehindOthers, onConnectionTurn } from './node-internals.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** null until the caller is authenticated. */
    apiTokenId: number | null;
  }
  interface FastifyContextConfig {
    /** Absent for assets and unknown paths. */
    operationId?: string;
  }
}

/** Called when processing starts, after earlier requests of the connection. Returns what is called at the end. */
export type RequestObserver = (request: FastifyRequest) => RequestEnd;

/** `status` is null if the client disconnected before the response was sent. `durationMs` counts from the arrival. */
export type RequestEnd = (status: number | null, durationMs: number) => void;

/** Observes all requests to the server. Returns a function for those that its hooks do not see. */
export function observeRequests(
  app: FastifyInstance,
  observers: readonly RequestObserver[],
): (request: FastifyRequest, reply: FastifyReply) => void {
  app.decorateRequest('apiTokenId', null);
  if (observers.length === 0) return () => {};
  const observe = (request: FastifyRequest, { raw: response }: FastifyReply): void => {
    const arrivedAt = performance.now();
    const begin = (): void => {
      const ends = observers.map((observer) => observer(request));
      response.on('close', () => {
        const durationMs = performance.now() - arrivedAt;
        const status = response.writableFinished ? response.statusCode : null;
        for (const end of ends) end(status, durationMs);
      });
    };
    // Node never closes a response that has not got the connection yet.
    if (isBehindOthers(response)) onConnectionTurn(response, begin);
    else begin();
  };
  app.addHook('onRequest', (request, reply, done) => {
    observe(request, reply);
    done();
  });
  return observe;
}
