// For supervisors and load balancers. Needs no API token and tells nothing but yes or no.

import type { FastifyInstance } from 'fastify';

export function addHealth(app: FastifyInstance, isReady: () => Promise<void>): void {
  // The process lives: its event loop answers.
  app.get('/healthz', { exposeHeadRoute: true }, async (_request, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8');
    return '{"success":1,"status":"alive"}';
  });
  // The process can serve: the database answers and it is not shutting down.
  app.get('/readyz', { exposeHeadRoute: true }, async (_request, reply) => {
    await isReady();
    reply.header('content-type', 'application/json; charset=utf-8');
    return '{"success":1,"status":"ready"}';
  });
}
