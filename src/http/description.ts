// Descriptions that endpoints give of themselves; `scripts/openapi/` builds the OpenAPI document from them.

import type { ProblemCode } from '../problem.ts';
import type { Schema } from './schema.ts';

export const tags = {
  'User groups': 'Your customers, each identified by your own id.',
  'User group tokens': 'Identify who is viewing a dashboard.',
  Events: 'What changed, who changed it, and when.',
  Usage: 'How often the tokens of user groups are used.',
  'API tokens': 'Authenticate the callers of the API. Only for the permission `admin`, but for `/v1/whoami`.',
  'Embed tokens': 'Signed tokens for dashboard tools, filled with the values of one user group.',
  Catalogue:
    'What mappings refer to: schemas and data sources; and the rules that mappings and properties must follow.',
  Configuration: 'All of the configuration of an environment at once. Only for the permission `admin`.',
  Webhooks: 'Deliver events to your own servers. Only for the permission `admin`.',
  Service: 'For supervisors, load balancers and readers. No API token is required.',
} as const;

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Joins the parts to a text such as "a, b and c". */
export function listText(parts: readonly string[]): string {
  return parts.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

export interface Example {
  summary: string;
  value: unknown;
}

type Examples = Readonly<Record<string, Example>>;

/** An example of a successful response, under its name. */
export function successExample(name: string, summary: string, members: object): Examples {
  return { [name]: { summary, value: { success: 1, ...members } } };
}

export function lastPageExample(member: string, item: object): Examples {
  return successExample('last', 'The last page', { [member]: [item], next_cursor: null });
}

/** The headers that only some responses have. */
type ResponseHeader =
  | 'ETag'
  | 'Vary'
  | 'Content-Security-Policy'
  | 'X-Content-Type-Options'
  | 'Referrer-Policy'
  | 'User-Group-Drift'
  | 'User-Group-Suspended'
  | 'X-User-Group-Id'
  | 'X-User-Group-Name'
  | 'X-User-Group-Data-Source-40'
  | 'X-User-Group-Property-customer_id';

export interface ResponseDescription {
  description: string;
  headers?: readonly ResponseHeader[];
  /** Has a title. Absent if the response has no body. */
  schema?: Schema;
  /** application/json if absent. */
  mediaType?: string;
  examples?: Examples;
}

export interface EndpointDescription {
  tag: keyof typeof tags;
  summary: string;
  /** CommonMark. */
  text: string;
  /** Valid request bodies. */
  requests?: Examples;
  /** Responses by status. A response whose handler sets no status has the lowest one. */
  responses: Readonly<Record<number, ResponseDescription>>;
  /** Codes specific to this endpoint, in addition to those that follow from its method, body and parameters. */
  problems?: readonly ProblemCode[];
}

export const ifMatchText =
  '\n\nWith `If-Match: "…"`, the `ETag` of an earlier response, the group is changed only if it still has that ' +
  'version; otherwise the response is 412 `version_mismatch`.';

export const ifNoneMatchText =
  '\n\nWith `If-None-Match: *` the call only creates: if the group exists, the response is 412 `version_mismatch`.';
