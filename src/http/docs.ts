// What is read about the API: by tools, and by people. Needs no API token: the source of the service says the same.

import type { FastifyInstance } from 'fastify';
import type { AnyOperation } from './operation.ts';

interface Text {
  headers: Readonly<Record<string, string>>;
  body: string;
}

interface Page extends Pick<Text, 'headers'> {
  /** Bytes, which all share who read slowly; of a text each would have a copy. */
  body: Buffer;
}

/** Each is loaded and made when somebody first asks for it: the service is ready the sooner. */
const texts: Record<string, (operations: readonly AnyOperation[]) => Promise<Text>> = {
  '/openapi.json': async (operations) => {
    const { openApi } = await import('./openapi/document.ts');
    const body = JSON.stringify(openApi(operations));
    return { headers: { 'content-type': 'application/json; charset=utf-8' }, body };
  },
  '/docs': async (operations) => {
    const { openApi } = await import('./openapi/document.ts');
    const { referencePage } = await import('./docs/reference.ts');
    const { pageHeaders } = await import('./docs/page.ts');
    return { headers: pageHeaders, body: referencePage(openApi(operations)) };
  },
  '/errors': async (operations) => {
    const { endpointsOf } = await import('./openapi/endpoint.ts');
    const { errorsPage } = await import('./docs/errors.ts');
    const { pageHeaders } = await import('./docs/page.ts');
    return { headers: pageHeaders, body: errorsPage(endpointsOf(operations)) };
  },
};

export function addDocs(app: FastifyInstance, operations: readonly AnyOperation[]): void {
  for (const [path, make] of Object.entries(texts)) {
    let page: Promise<Page> | undefined;
    app.get(path, { exposeHeadRoute: true }, async (_request, reply) => {
      page ??= make(operations)
        .then(({ headers, body }) => ({ headers, body: Buffer.from(body) }))
        .catch((error) => {
          // Of no file descriptors, say, there may be some later.
          page = undefined;
          throw error;
        });
      const { headers, body } = await page;
      reply.headers(headers);
      return body;
    });
  }
}
