// Returns, for each error code in the API description of an operation, a request that returns the error's
// example.

import { limits } from '../../../src/domain/field.ts';
import type { ProblemCode } from '../../../src/problem.ts';
import type { TestRequest } from '../http.ts';
import { type DescribedOperation, examplesOf } from './api-description.ts';

/**
 * Existing group, and id of the first API token. Operations with an id in the path are called with its path.
 */
export const EXISTING = { user_group_id: 'there', name: 'There' };
export const EXISTING_ENDPOINT = 'endpoint';
const ids = {
  user_group_id: EXISTING.user_group_id,
  api_token_id: '1',
  webhook_endpoint_id: EXISTING_ENDPOINT,
  schema_id: '40',
  provided_id: 'acme-orders',
  event_id: 'evt_0',
  integration_id: 'metabase',
  issuer_id: '0',
};
const missing = {
  user_group_id: 'missing',
  api_token_id: '999999999',
  webhook_endpoint_id: 'missing',
  schema_id: 'missing',
  provided_id: 'missing',
  event_id: 'missing',
  integration_id: 'missing',
  issuer_id: '0',
};

/** Returns the request that the operation's first example shows. */
export function requestOf({ method, path, requestBody }: DescribedOperation): TestRequest {
  const [example] = Object.values(examplesOf(requestBody));
  const request = { method, path: pathWith(path, ids) };
  if (example === undefined) return request;
  const isForm = 'application/x-www-form-urlencoded' in requestBody!.content!;
  return { ...request, body: isForm ? new URLSearchParams(example.value) : example.value };
}

/** Returns changes to the request of an operation, by the error code that they cause. */
export function errorRequests(operation: DescribedOperation): Partial<Record<ProblemCode, TestRequest>> {
  const { path, body } = requestOf(operation);
  const isById = typeof body === 'object' && body !== null && 'user_group_id' in body;
  const hasIdInPath = operation.path.includes('{');
  const withId = (of: typeof ids): TestRequest => ({
    ...(isById && { body: { user_group_id: of.user_group_id } }),
    ...(hasIdInPath && { path: pathWith(operation.path, of) }),
  });
  const tooLarge = ' '.repeat(limits.bodyBytes + 1);
  const ignoresQuery = operation.security.length === 0;
  return {
    invalid_request: ignoresQuery
      ? { headers: { origin: ['http://one.example', 'http://two.example'] } }
      : { path: `${path}?limit=0` },
    ...(body !== undefined && !(body instanceof URLSearchParams) && errorBodies(body as object)),
    unauthenticated: { token: null },
    origin_not_allowed: { headers: { origin: 'https://elsewhere.example' } },
    user_group_not_found: withId(missing),
    api_token_not_found: withId(missing),
    user_group_token_not_found: {},
    viewer_unauthenticated: {},
    not_found: { path: `${path}/more` },
    method_not_allowed: { method: 'TRACE', body: undefined },
    version_mismatch: { headers: { 'if-match': '"other"' }, ...withId(ids) },
    body_too_large: {
      body: body instanceof URLSearchParams ? new URLSearchParams({ x: tooLarge }) : tooLarge,
    },
    unsupported_media_type: { headers: { 'content-type': 'text/plain' } },
  };
}

function pathWith(path: string, of: typeof ids): string {
  return path.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) => of[name]);
}

function errorBodies(body: object): Partial<Record<ProblemCode, TestRequest>> {
  const [[name, value]] = Object.entries(body) as [[string, unknown]];
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return {
    invalid_json: { body: `{${member},${member}}` },
    invalid_request: { body: { ...body, [name]: [] } },
    unknown_field: { body: { ...body, [name.slice(0, -1)]: value } },
    body_missing: { body: undefined },
  };
}
