// Endpoints that require no API token: for supervisors, load balancers, readers and verifiers of tokens.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../operations/context.ts';
import type { EndpointDescription } from './description.ts';
import { refusePreconditionOf } from './entity-tag.ts';

export interface PublicCall {
  context: Context;
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
  /** Whether the endpoint honours `If-None-Match`. */
  isConditional?: true;
  description: EndpointDescription;
  handle: (call: PublicCall) => Promise<string | Buffer | FastifyReply | undefined>;
}

/** Adds GET and HEAD. */
export function addPublicEndpoint(
  app: FastifyInstance,
  options: Pick<PublicCall, 'context' | 'isReady' | 'openApi'>,
  { operationId, path, isConditional, handle }: PublicEndpoint,
): void {
  const onRequest = isConditional ? [] : refusePreconditionOf;
  const route = { exposeHeadRoute: true, onRequest, config: { operationId } };
  app.get(path, route, (request, reply) => handle({ ...options, request, reply }));
}
