// An OpenAPI operation: an endpoint, public or not, at its path.

import { type Permission, permissions } from '../../src/domain/api-token.ts';
import type { EndpointDescription } from '../../src/http/description.ts';
import type { AnyEndpoint } from '../../src/http/endpoint.ts';
import type { PublicEndpoint } from '../../src/http/public-endpoint.ts';
import { problems } from '../../src/http/response/problem.ts';
import type { Schema } from '../../src/http/schema.ts';
import type { ProblemCode } from '../../src/problem.ts';
import { occurrences } from './occurrence.ts';

export interface ApiSurface {
  endpoints: readonly AnyEndpoint[];
  publicEndpoints: readonly PublicEndpoint[];
}

export interface Operation {
  operationId: string;
  method: string;
  /** Path with its parameters in braces. */
  path: string;
  description: EndpointDescription;
  /** Absent if the operation has no body. */
  body?: Schema;
  /** null if no API token is required. */
  endpoint: AnyEndpoint | null;
}

export function listOperations({ endpoints, publicEndpoints }: ApiSurface): Operation[] {
  return [
    ...endpoints.map((endpoint) => ({
      operationId: endpoint.operationId,
      method: String(endpoint.method),
      path: pathTemplate(endpoint.paths[0]!),
      description: endpoint.description,
      ...(endpoint.body.schema !== null && { body: endpoint.body.schema }),
      endpoint,
    })),
    ...publicEndpoints.map(({ operationId, path, description }) => ({
      operationId,
      method: 'GET',
      path: pathTemplate(path),
      description,
      endpoint: null,
    })),
  ];
}

function pathTemplate(path: string): string {
  return path.replace(/:(\w+)/g, '{$1}');
}

/** Returns the error codes that the operation can return, in the order of the table of codes. */
export function possibleProblemCodes(operation: Operation): ProblemCode[] {
  const named = operation.description.problems ?? [];
  return (Object.keys(problems) as ProblemCode[]).filter(
    (code) => named.includes(code) || canOccur[occurrences[code].occurrence](operation),
  );
}

const canOccur = {
  'every request': () => true,
  origin: ({ endpoint }: Operation) => endpoint?.protocol !== 'forward-auth',
  'API token': ({ endpoint }: Operation) => endpoint !== null,
  'body that is read': ({ endpoint }: Operation) => endpoint !== null && !endpoint.body.isIgnored,
  permission: ({ endpoint }: Operation) =>
    endpoint !== null && insufficientPermission(endpoint) !== undefined,
  body: ({ body }: Operation) => body !== undefined,
  'JSON body': ({ body, endpoint }: Operation) => body !== undefined && endpoint?.protocol !== 'oauth',
  'required body': ({ endpoint }: Operation) => endpoint?.body.isRequired === true,
  'path parameter': ({ path }: Operation) => path.includes('{'),
  precondition: ({ endpoint }: Operation) => endpoint?.isConditional === true,
  named: () => false,
};

function insufficientPermission(endpoint: AnyEndpoint): Permission | undefined {
  return permissions.find(
    (permission) => permission !== 'admin' && !endpoint.permissions.includes(permission),
  );
}
