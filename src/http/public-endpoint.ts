// Endpoints that require no API token: for supervisors, load balancers and readers.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { EndpointDescription } from './description.ts';
import { refusePreconditionOf } from './entity-tag.ts';

export interface PublicCall {
  /** Rejects if the service cannot serve requests. */
  isReady: () => Promise<void>;
  /** The OpenAPI document as JSON. */
  openApi: () => Promise<string>;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface PublicEndpoint {
  operationId: string;
  path: string;
  description: EndpointDescription;
  handle: (call: PublicCall) => Promise<string | Buffer | FastifyReply>;
}

/** Adds GET and HEAD. */
export function addPublicEndpoint(
  app: FastifyInstance,
  options: Pick<PublicCall, 'isReady' | 'openApi'>,
  { operationId, path, handle }: PublicEndpoint,
): void {
  const route = { exposeHeadRoute: true, onRequest: refusePreconditionOf, config: { operationId } };
  app.get(path, route, (request, reply) => handle({ ...options, request, reply }));
}
