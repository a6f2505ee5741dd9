// What is read about the API: its description, which tools read.

import type { FastifyInstance } from 'fastify';
import type { AnyOperation } from './operation.ts';

/** No API token is needed: what is told here stands in the source of the service too. */
export function addDocs(app: FastifyInstance, operations: readonly AnyOperation[]): void {
  let openApiText: string | undefined;
  app.get('/openapi.json', { exposeHeadRoute: true }, async (_request, reply) => {
    // Loaded and made when somebody asks: the service is ready sooner.
    openApiText ??= JSON.stringify((await import('./openapi/document.ts')).openApi(operations));
    reply.header('content-type', 'application/json; charset=utf-8');
    return openApiText;
  });
}
