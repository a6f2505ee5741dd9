// Observes requests until their response is sent. Without observers, requests do no work for this.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problem } from '../problem.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs and counts a problem that a page shows instead of throwing it. */
    reportProblem: ReportProblem;
  }
  interface FastifyRequest {
    /** null until the caller is authenticated. */
    apiTokenId: number | null;
  }
  interface FastifyContextConfig {
    /** Absent for assets and unknown paths. */
    operationId?: string;
  }
}

export type ReportProblem = (problem: Problem, request: FastifyRequest) => void;

/** Called when processing starts. Returns the function to call at the end. */
export type RequestObserver = (request: FastifyRequest) => RequestEnd;

/**
 * `status` is null if the client disconnected before the response was sent. `durationMs` counts from the
 * arrival, or from the response to the previous request of the connection.
 */
export type RequestEnd = (status: number | null, durationMs: number) => void;

/** Called for each request, after the earlier ones of its connection. */
export type ObserveRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Returns null if there are no observers. */
export function observeRequests(given: readonly (RequestObserver | undefined)[]): ObserveRequest | null {
  const observers = given.filter((observer) => observer !== undefined);
  if (observers.length === 0) return null;
  return (request, { raw: response }) => {
    const startedAt = performance.now();
    const ends = observers.map((observer) => observer(request));
    response.on('close', () => {
      const status = response.writableFinished ? response.statusCode : null;
      for (const end of ends) end(status, performance.now() - startedAt);
    });
  };
}
