// Health checks for supervisors and load balancers. The responses reveal nothing but yes or no.

import { Problem } from '../../../problem.ts';
import { type ResponseDescription, successExample } from '../../description.ts';
import type { PublicEndpoint } from '../../public-endpoint.ts';
import { JSON_TYPE, sendProblem } from '../../response/problem.ts';
import { successSchema } from '../../schema.ts';

const Health = successSchema('Health', { status: { type: 'string', enum: ['alive', 'ready'] } });

/** Operation ids. Supervisors and load balancers call them every second, so the access log can omit them. */
export const HEALTH_CHECKS: ReadonlySet<string> = new Set(['checkAlive', 'checkReady']);

export const alive: PublicEndpoint = {
  operationId: 'checkAlive',
  path: '/healthz',
  isUnlimited: true,
  handle: async ({ context, reply }) => {
    context.activity.seenHealthCheck();
    reply.header('content-type', JSON_TYPE);
    return '{"success":1,"status":"alive"}';
  },
  description: {
    tag: 'Service',
    summary: 'Check that the process is alive',
    text: 'For a supervisor, which should restart a process that does not respond.',
    responses: { 200: healthy('The process is alive.', 'alive') },
  },
};

export const ready: PublicEndpoint = {
  operationId: 'checkReady',
  path: '/readyz',
  isUnlimited: true,
  handle: async ({ context, isReady, reply }) => {
    context.activity.seenHealthCheck();
    try {
      await isReady();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'shutting_down') throw error;
      // Sent instead of thrown: the log would report a rejected caller.
      return sendProblem(reply, error);
    }
    reply.header('content-type', JSON_TYPE);
    return '{"success":1,"status":"ready"}';
  },
  description: {
    tag: 'Service',
    summary: 'Check that the process can serve requests',
    text: 'For a load balancer: the database responds and accepts writes, and the process is not shutting down.',
    responses: { 200: healthy('The process can serve requests.', 'ready') },
    problems: ['database_unavailable', 'overloaded'],
  },
};

function healthy(description: string, status: 'alive' | 'ready'): ResponseDescription {
  const summary = status === 'alive' ? 'Alive' : 'Ready';
  return { description, schema: Health, examples: successExample(status, summary, { status }) };
}
