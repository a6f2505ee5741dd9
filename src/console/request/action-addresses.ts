// Redirects GET requests for the addresses of actions, which have no page of their own, to the nearest page
// above, with the conditions of a list. People open them by "back", by a bookmark, or after signing in.

import type { FastifyInstance } from 'fastify';
import { type PageLimitOptions, pageLimiter } from '../../http/public-endpoint.ts';
import type { Page } from '../page.ts';
import { requestPath } from './browser.ts';
import { redirect } from './response.ts';

export function addActionAddresses(
  app: FastifyInstance,
  options: PageLimitOptions,
  pages: readonly Page[],
): void {
  const shown = new Set(pages.filter(({ method }) => method === 'GET').map(({ path }) => path));
  for (const path of pages.map((page) => page.path).filter((each) => !shown.has(each))) {
    const levels = levelsAbove(path, shown);
    const config = { operationId: `console GET ${path}` };
    app.get(`/console${path}`, { config, onRequest: pageLimiter(options) }, (request, reply) => {
      const own = requestPath(request);
      const above = own.split('/').slice(0, -levels).join('/');
      return redirect(reply, above + request.url.slice(own.length));
    });
  }
}

/** Returns how many levels above the path of an action the nearest page is. */
function levelsAbove(path: string, shown: ReadonlySet<string>): number {
  const parts = path.split('/');
  let levels = 1;
  while (levels < parts.length - 1 && !shown.has(parts.slice(0, -levels).join('/'))) levels++;
  return levels;
}
