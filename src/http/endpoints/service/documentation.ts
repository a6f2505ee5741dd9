// The API documentation: /openapi.json for tools, /docs and /errors for people. Public, as the source code is.

import type { FastifyInstance } from 'fastify';
import { readProgramFile } from '../../../system/program-file.ts';
import { type DocsAssets, loadAssets } from '../../docs/assets.ts';
import { errorsMain } from '../../docs/errors.ts';
import { docsHeaders, page } from '../../docs/page.ts';
import { lazy } from '../../lazy.ts';
import { addAssets, type PageLimitOptions, type PublicEndpoint } from '../../public-endpoint.ts';
import { sharedContent } from '../../response/compressed.ts';
import { type Html, html, joined } from '../../response/html.ts';
import { JSON_TYPE } from '../../response/problem.ts';

const pageResponse = {
  mediaType: 'text/html',
  schema: { title: 'Page', type: 'string', description: 'HTML.' },
  headers: ['Vary', 'Content-Security-Policy', 'X-Content-Type-Options', 'Referrer-Policy'],
} as const;

const assets = lazy(loadAssets);

export const openApiDocument: PublicEndpoint = {
  operationId: 'readOpenApi',
  path: '/openapi.json',
  // The file that `npm run format` writes: generating it here would occupy the event loop for 50 ms.
  handle: sharedContent(() => readProgramFile('../docs/openapi.json'), { 'content-type': JSON_TYPE }),
  description: {
    tag: 'Service',
    summary: 'Read the OpenAPI document',
    text: 'OpenAPI 3.1, for tools.',
    responses: {
      200: {
        description: 'The API description.',
        headers: ['Vary'],
        schema: {
          title: 'OpenApi',
          type: 'object',
          additionalProperties: true,
          description: 'An OpenAPI 3.1 document.',
        },
      },
    },
    problems: ['overloaded'],
  },
};

export const docs: PublicEndpoint = {
  operationId: 'readDocumentation',
  path: '/docs',
  handle: sharedContent(docsPage, docsHeaders),
  description: {
    tag: 'Service',
    summary: 'Read the documentation',
    text: 'This description as a page, with search. It loads nothing from other origins.',
    responses: { 200: { description: 'The API documentation.', ...pageResponse } },
    problems: ['overloaded'],
  },
};

export const errors: PublicEndpoint = {
  operationId: 'readErrors',
  path: '/errors',
  handle: sharedContent(errorsPage, docsHeaders),
  description: {
    tag: 'Service',
    summary: 'Read about the errors',
    text: 'The `type` of an error links here. HTML without scripts.',
    responses: { 200: { description: 'Every error code: its meaning and what to do.', ...pageResponse } },
    problems: ['overloaded'],
  },
};

/** Adds the files that the pages load. */
export function addDocsAssets(app: FastifyInstance, options: PageLimitOptions): void {
  addAssets(app, options, '/docs/assets', assets);
}

async function docsPage(): Promise<string> {
  const loaded = await assets();
  const styles = (['swagger-ui.css', 'page.css'] as const).map((name) => stylesheet(loaded, name));
  const scripts = (['swagger-ui-bundle.js', 'setup.js'] as const).map(
    (name) => html`<script defer src="${loaded.url(name)}"></script>`,
  );
  const body = html`<div id="reference"></div><noscript>This page requires JavaScript; /openapi.json has the same content.</noscript>`;
  return page('API', joined([...styles, ...scripts], '\n'), body).markup;
}

async function errorsPage(): Promise<string> {
  return page('Errors', stylesheet(await assets(), 'page.css'), errorsMain()).markup;
}

function stylesheet(loaded: DocsAssets, name: 'swagger-ui.css' | 'page.css'): Html {
  return html`<link rel="stylesheet" href="${loaded.url(name)}">`;
}
