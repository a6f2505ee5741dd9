// Endpoints that require no API token: for supervisors, load balancers, readers and verifiers of tokens.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../operations/context.ts';
import { TURN_BYTES } from '../operations/machinery/cpu-queue.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import type { EndpointDescription } from './description.ts';
import { LAST_CPU_TURN_AFTER_MS } from './endpoint.ts';
import type { PublicLimit } from './limits/public-limit.ts';
import type { Assets } from './response/assets.ts';
import { refusePreconditionHook } from './response/entity-tag.ts';

export interface PublicCall {
  context: Context;
  /** Rejects if the service cannot serve requests. */
  isReady: () => Promise<void>;
  request: FastifyRequest;
  reply: FastifyReply;
}

export interface PublicEndpoint {
  operationId: string;
  path: string;
  /** Whether the endpoint honours `If-None-Match`. */
  isConditional?: true;
  /** Whether the limit of pages does not apply. */
  isUnlimited?: true;
  description: EndpointDescription;
  handle: (call: PublicCall) => Promise<string | Buffer | FastifyReply | undefined>;
}

export interface PublicOptions extends Pick<PublicCall, 'context' | 'isReady'> {
  publicLimit: PublicLimit | null;
}

/** Adds GET and HEAD. */
export function addPublicEndpoint(
  app: FastifyInstance,
  options: PublicOptions,
  { operationId, path, isConditional, isUnlimited, handle }: PublicEndpoint,
): void {
  const onRequest = [
    ...(isConditional ? [] : [refusePreconditionHook]),
    ...(isUnlimited ? [] : [pageLimiter(options)]),
  ];
  const route = { exposeHeadRoute: true, onRequest, config: { operationId } };
  const { context, isReady } = options;
  app.get(path, route, (request, reply) => handle({ context, isReady, request, reply }));
}

/** Adds the files that pages load, at the URLs that `Assets` gives them. */
export function addAssets(
  app: FastifyInstance,
  options: PageLimitOptions,
  folder: string,
  load: () => Promise<Assets<string>>,
): void {
  const onRequest = [refusePreconditionHook, pageLimiter(options)];
  app.get<{ Params: Record<'digest' | 'name', string> }>(
    `${folder}/:digest/:name`,
    { exposeHeadRoute: true, onRequest },
    async (request, reply) => {
      const { digest, name } = request.params;
      return (await load()).send(reply, `${digest}/${name}`);
    },
  );
}

export interface PageLimitOptions extends Pick<PublicOptions, 'publicLimit'> {
  context: Pick<Context, 'activity' | 'cpu'>;
}

/** Admits one page per turn: a page has up to two megabytes, which take up to a millisecond to send. */
const PAGE_BYTES = TURN_BYTES;

/** Returns a hook that counts the page towards the limit and waits for the CPU. */
export function pageLimiter({ publicLimit, context }: PageLimitOptions) {
  return async ({ raw }: FastifyRequest): Promise<void> => {
    context.activity.seen(UNKNOWN_TENANT);
    publicLimit?.countPage(raw);
    const startBy = performance.now() + LAST_CPU_TURN_AFTER_MS;
    await context.cpu.until(startBy, UNKNOWN_TENANT).turn(PAGE_BYTES);
  };
}
