// Observes requests from their arrival until their response is sent. Without observers, requests do no work for this.

import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
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

/** Called when processing starts, after earlier requests of the connection. Returns the function to call at the end. */
export type RequestObserver = (request: FastifyRequest) => RequestEnd;

/** `status` is null if the client disconnected before the response was sent. `durationMs` counts from the arrival. */
export type RequestEnd = (status: number | null, durationMs: number) => void;

/** Called for each request when it arrives. */
export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Returns null if there are no observers. */
export function observeRequests(observers: readonly RequestObserver[]): ObserveRequest | null {
  const [first, ...others] = observers;
  if (first === undefined) return null;
  const observer = others.length === 0 ? first : combined(observers);
  return (request, { raw: response }) => {
    const arrivedAt = performance.now();
    // Node never closes a response that has not got the connection yet.
    if (isBehindOthers(response)) {
      onConnectionTurn(response, () => observe(observer, request, response, arrivedAt));
    } else observe(observer, request, response, arrivedAt);
  };
}

function observe(
  observer: RequestObserver,
  request: FastifyRequest,
  response: ServerResponse,
  arrivedAt: number,
): void {
  const end = observer(request);
  response.on('close', () => {
    end(response.writableFinished ? response.statusCode : null, performance.now() - arrivedAt);
  });
}

function combined(observers: readonly RequestObserver[]): RequestObserver {
  return (request) => {
    const ends = observers.map((observer) => observer(request));
    return (status, durationMs) => {
      for (const end of ends) end(status, durationMs);
    };
  };
}
