// Forward authentication: a reverse proxy asks for each request of a viewer, and passes the response headers on to the
// dashboard.

import type { EffectiveMapping } from '../../../domain/catalogue.ts';
import type { JsonText } from '../../../domain/json/strict-json.ts';
import { noBody } from '../../../domain/request-body.ts';
import { incompleteMapping, notForwardable, viewerUnauthenticated } from '../../../operations/refusals.ts';
import { identifyViewer, type Viewer } from '../../../operations/user-group/resolve.ts';
import { endpoint } from '../../endpoint.ts';
import { resolutionOf } from '../../prefetch.ts';
import { ignoredQuery } from '../../request/query.ts';
import { VIEWER_TOKEN_COOKIE, VIEWER_TOKEN_HEADER, viewerTokenOf } from '../../request/viewer-token.ts';

/** Proxies and servers accept about 100 headers (HAProxy: 101, gunicorn and Apache: 100), including those of others. */
export const MAX_DATA_SOURCES = 64;
/** Maximum size of all names and values. Proxies buffer 16 KiB, or can be configured to. */
export const MAX_HEADER_BYTES = 8 * 1024;
const DATA_SOURCE_HEADER = 'X-User-Group-Data-Source-';

/** Throws `user_group_not_forwardable` if they would be too many or too long: they are never truncated. */
function headersOf({ userGroup, effective }: Viewer): Record<string, string> {
  const references = effective === null ? mappedReferences(userGroup.mapping) : dataSourceIds(effective);
  const headers: Record<string, string> = {
    'X-User-Group-Id': encodeURIComponent(userGroup.providedId),
    'X-User-Group-Name': encodeURIComponent(userGroup.name),
  };
  for (const [schemaId, reference] of references)
    headers[DATA_SOURCE_HEADER + headerNamePart(schemaId)] = encodeURIComponent(reference);
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (references.length > MAX_DATA_SOURCES || bytes > MAX_HEADER_BYTES)
    throw notForwardable(
      `The user group needs more than ${MAX_DATA_SOURCES} data sources or ${MAX_HEADER_BYTES} bytes of headers. Resolve the token instead.`,
    );
  return headers;
}

/** The entries of the mapping, for an environment without a catalogue. */
function mappedReferences(mapping: JsonText | null): [schemaId: string, reference: string | number][] {
  return mapping === null ? [] : Object.entries(JSON.parse(mapping) as Record<string, string | number>);
}

/** Throws `user_group_not_forwardable` if one is missing: a dashboard might read an absent header as its default. */
function dataSourceIds({ dataSources, isComplete }: EffectiveMapping): [schemaId: string, id: string][] {
  if (!isComplete) throw incompleteMapping();
  return Array.from(dataSources, ([schemaId, { providedId }]) => [schemaId, providedId]);
}

/**
 * Lower-case letters and digits stay; every other byte of UTF-8 becomes a hyphen and two hexadecimal digits. So two schema
 * ids never have the same header, even where names ignore case, or `-` and `_` are the same (CGI, variables of nginx).
 */
export function headerNamePart(schemaId: string): string {
  if (/^[0-9a-z]+$/.test(schemaId)) return schemaId;
  return Buffer.from(schemaId)
    .toString('latin1')
    .replace(/[^0-9a-z]/g, (byte) => `-${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

export const forwardAuth = endpoint({
  operationId: 'forwardAuth',
  method: 'GET',
  paths: ['/v1/forward-auth'],
  permissions: ['read-write', 'read-only', 'resolve', 'embed'],
  purpose: 'resolve tokens',
  access: 'read',
  protocol: 'forward-auth',
  query: ignoredQuery,
  body: noBody,
  isConditional: false,
  prefetch: (caller, _body, { raw }, now) => {
    const token = viewerTokenOf(raw);
    return token === null ? null : resolutionOf(caller, token, now);
  },
  handle: async ({ context, caller, request, reply }) => {
    const token = viewerTokenOf(request.raw);
    const viewer = token === null ? null : await identifyViewer(context, caller, token);
    if (viewer === null) throw viewerUnauthenticated();
    reply.headers(headersOf(viewer));
    return undefined;
  },
  description: {
    tag: 'User group tokens',
    summary: 'Authenticate the request of a viewer for a proxy',
    text:
      'For nginx `auth_request`, Caddy `forward_auth`, HAProxy and others: the proxy calls this for each request of a viewer, ' +
      'and passes the headers of the response on. `Authorization` has the API token of the proxy. The token of the viewer is ' +
      `in \`${VIEWER_TOKEN_HEADER}\` (alone or after \`Bearer \`, so the viewer's \`Authorization\` can be copied there), otherwise in the ` +
      `cookie \`${VIEWER_TOKEN_COOKIE}\`. An embed token of the type \`jwt\` is accepted too.\n\n` +
      'Values are percent-encoded UTF-8. The header of a data source ends with the id of its schema, in which every byte ' +
      'other than a lower-case letter or a digit is a hyphen and two hexadecimal digits: `eu-1` is `eu-2d1`. Its value is ' +
      'your own id of the data source or, without a catalogue, what the mapping says. If a schema of the catalogue or of the ' +
      `mapping leads to no data source, or there are more than ${MAX_DATA_SOURCES} data sources or ${MAX_HEADER_BYTES} bytes, ` +
      'the response is 401 and not a part of them.\n\n' +
      "The query, the origin and the preconditions of the request are those of the viewer's and are ignored. " +
      'The proxy must remove all `X-User-Group-` headers that come from outside.',
    responses: {
      200: {
        description: 'The viewer, in headers.',
        headers: ['X-User-Group-Id', 'X-User-Group-Name', 'X-User-Group-Data-Source-40'],
      },
    },
    problems: ['viewer_unauthenticated', 'user_group_not_forwardable'],
  },
});
