// Builds the API description: OpenAPI 3.1, derived from the endpoints and from the schemas that validate
// requests.

import type { OpenAPIV3_1 } from 'openapi-types';
import { tags } from '../../src/http/description.ts';
import { readVersion } from '../../src/version.ts';
import { about, authentications } from './about.ts';
import { componentSchemas } from './component-schemas.ts';
import { errorResponses, oauthProblemSchema, problemExamples, problemSchema } from './error-responses.ts';
import { type ApiSurface, listOperations } from './operation.ts';
import { pathItem } from './operation-object.ts';
import { responseHeaders } from './response-header.ts';
import { webhooks } from './webhooks.ts';

/** `surface` is the module `routes.ts`. */
export function openApi(surface: ApiSurface): OpenAPIV3_1.Document {
  const operations = listOperations(surface);
  const byPath = Map.groupBy(operations, ({ path }) => path);
  const paths = Object.fromEntries(Array.from(byPath, ([path, ofPath]) => [path, pathItem(ofPath)]));
  const requests = operations.flatMap(({ body }) => body ?? []);
  const responses = operations.flatMap(({ description }) =>
    Object.values(description.responses).flatMap(({ schema }) => schema ?? []),
  );
  return {
    openapi: '3.1.1',
    info: {
      title: 'User Group Service',
      version: readVersion(),
      summary: 'Issues a token per customer and tells your dashboards who is viewing.',
      description: about,
      contact: { name: 'User Group Service contributors' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: componentSchemas([...requests, ...responses, problemSchema, oauthProblemSchema]),
      headers: responseHeaders,
      responses: errorResponses(paths),
      examples: problemExamples(),
      securitySchemes: authentications,
    },
  };
}
