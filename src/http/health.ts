// For supervisors and load balancers. Needs no API token and tells nothing but yes or no.

import type { FastifyInstance } from 'fastify';
import { Problem } from '../problem.ts';
import { sendProblem } from './problem.ts';

export function addHealth(app: FastifyInstance, isReady: () => Promise<void>): void {
  // The process lives: its event loop answers.
  app.get('/healthz', { exposeHeadRoute: true }, async (_request, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8');
    return '{"success":1,"status":"alive"}';
  });
  // The process can serve: the database answers and it is not shutting down.
  app.get('/readyz', { exposeHeadRoute: true }, async (request, reply) => {
    try {
      await isReady();
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'shutting_down') throw error;
      // Not thrown on: the log would tell of somebody who was turned away.
      return sendProblem(reply, error, request.id);
    }
    reply.header('content-type', 'application/json; charset=utf-8');
    return '{"success":1,"status":"ready"}';
  });
}
