// Forward authentication: a reverse proxy calls this for each request of a viewer, and passes the response
// headers on to the dashboard.

import { parseMapping } from '../../../domain/catalogue/catalogue.ts';
import { GroupValues } from '../../../domain/embed-token/template.ts';
import { limits, userGroupId } from '../../../domain/field.ts';
import { decodeString } from '../../../domain/json/json-tree.ts';
import { ignoredBody } from '../../../domain/request-body.ts';
import { identifyViewer, type Viewer } from '../../../operations/user-group/resolve.ts';
import { Problem } from '../../../problem.ts';
import { endpoint } from '../../endpoint.ts';
import { resolutionQuery } from '../../prefetch.ts';
import { type QueryType, queryType } from '../../request/query.ts';
import {
  presentedViewerToken,
  VIEWER_TOKEN_COOKIE,
  VIEWER_TOKEN_HEADER,
} from '../../request/viewer-token.ts';
import {
  BELOW_FORWARD_AUTH,
  FORWARD_AUTH_PATH,
  VIEWER_URL_PARAMETER,
  withoutViewerQuery,
} from '../../request/viewer-url.ts';

/**
 * Proxies and servers accept about 100 headers (HAProxy: 101, gunicorn and Apache: 100), including any
 * others.
 */
export const MAX_VALUES = 64;
/** Maximum size of all names and values. Proxies buffer 16 KiB, or can be configured to. */
export const MAX_VIEWER_HEADER_BYTES = 8 * 1024;
const DATA_SOURCE_HEADER = 'X-User-Group-Data-Source-';
const PROPERTY_HEADER = 'X-User-Group-Property-';

/** The schemas and properties that the proxy asks for. */
interface Wanted {
  /** Must lead to data sources; absent: every schema of the catalogue or, without one, of the mapping. */
  schemas?: readonly string[];
  properties?: readonly string[];
}

const listed = { type: 'array', minItems: 1, maxItems: MAX_VALUES, uniqueItems: true } as const;

const proxyQuery = queryType({
  parameters: {
    schemas: {
      ...listed,
      items: { ...userGroupId, description: 'Id of a schema.' },
      description:
        'The schemas that the dashboard reads, separated by commas: each must lead to a data source, and only these are ' +
        'in headers. Without it: every schema of the catalogue or, without a catalogue, of the mapping.',
    },
    properties: {
      ...listed,
      items: { type: 'string', minLength: 1, maxLength: limits.textCodePoints },
      description:
        'The properties to return in headers, separated by commas: each must be a text or a number.',
    },
  },
  convert: (values) => refuseSameHeaders(values),
});

/** Reads only what the proxy chose: ignores the URL of the viewer, and refuses unknown parameters. */
const query: QueryType<Wanted> = {
  parameters: {
    ...proxyQuery.parameters,
    [VIEWER_URL_PARAMETER]: {
      type: 'string',
      description:
        'For proxies that append the URL of the viewer: it and everything after it is ignored, so it must be the last one.',
    },
  },
  read: (url) => proxyQuery.read(withoutViewerQuery(url)),
};

/** Throws `invalid_request` if servers could confuse the headers of two properties. */
function refuseSameHeaders(wanted: Wanted): Wanted {
  const names = (wanted.properties ?? []).map((name) =>
    propertyNamePart(name).toLowerCase().replaceAll('_', '-'),
  );
  if (new Set(names).size === names.length) return wanted;
  throw new Problem(
    'invalid_request',
    'Two of the properties would have the same header, because names of headers ignore case, and many servers take a hyphen and an underscore for the same.',
  );
}

/** Throws `user_group_not_forwardable` if headers are too many or too long: they are never truncated. */
function viewerHeaders(viewer: Viewer, { schemas, properties = [] }: Wanted): Record<string, string> {
  const { userGroup } = viewer;
  const references = viewerReferences(viewer, schemas);
  const headers: Record<string, string> = {
    'X-User-Group-Id': encodeURIComponent(userGroup.providedId),
    'X-User-Group-Name': encodeURIComponent(userGroup.name),
  };
  for (const [schemaId, reference] of references)
    headers[DATA_SOURCE_HEADER + headerNamePart(schemaId)] = encodeURIComponent(reference);
  const values = new GroupValues(userGroup);
  for (const name of properties)
    headers[PROPERTY_HEADER + propertyNamePart(name)] = encodeURIComponent(propertyText(values, name));
  const bytes = Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (references.length + properties.length > MAX_VALUES || bytes > MAX_VIEWER_HEADER_BYTES)
    throw notForwardable(
      `The user group needs more than ${MAX_VALUES} data sources and properties or ${MAX_VIEWER_HEADER_BYTES} bytes of headers. Resolve the token instead.`,
    );
  return headers;
}

type References = readonly (readonly [schemaId: string, reference: string | number])[];

/** Throws `user_group_not_forwardable` if one is missing: a dashboard might read an absent header as its default. */
function viewerReferences(
  { userGroup, effective }: Viewer,
  schemas: readonly string[] | undefined,
): References {
  const references: References =
    effective === null
      ? Object.entries(parseMapping(userGroup.mapping))
      : Array.from(effective.dataSources, ([schemaId, { providedId }]) => [schemaId, providedId]);
  if (schemas === undefined) {
    if (effective?.isComplete === false) throw incompleteMapping;
    return references;
  }
  const bySchema = new Map(references);
  return schemas.map((schemaId) => {
    const reference = bySchema.get(schemaId);
    if (reference === undefined) throw incompleteMapping;
    return [schemaId, reference];
  });
}

/**
 * Returns a text, or a number digit for digit. Throws `user_group_not_forwardable` for an empty text and for
 * any other value.
 */
function propertyText(values: GroupValues, name: string): string {
  const value = values.property(name);
  if (value === null || value === '""' || !/^["\d-]/.test(value))
    throw notForwardable(
      'A property that the proxy asks for is absent, empty, or neither a text nor a number.',
    );
  return value[0] === '"' ? decodeString(value) : value;
}

/**
 * Escapes like `headerNamePart`, but keeps upper-case letters and `_` too: the proxy chooses the names, and
 * `refuseSameHeaders` compares them.
 */
function propertyNamePart(name: string): string {
  return escaped(name, /[^0-9A-Za-z_]/g);
}

/**
 * Keeps lower-case letters and digits, and writes every other byte of UTF-8 as a hyphen and two hexadecimal
 * digits. So two schema ids never have the same header, even where header names ignore case or do not
 * distinguish `-` from `_` (CGI, variables of nginx).
 */
export function headerNamePart(schemaId: string): string {
  return escaped(schemaId, /[^0-9a-z]/g);
}

function escaped(text: string, others: RegExp): string {
  if (text.search(others) === -1) return text;
  return Buffer.from(text)
    .toString('latin1')
    .replace(others, (byte) => `-${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Same problem for a missing token and for every viewer's token that does not resolve. */
export const viewerUnauthenticated = new Problem(
  'viewer_unauthenticated',
  `The viewer has no token, or one that is not valid. The proxy passes it on in ${VIEWER_TOKEN_HEADER} or in the cookie ${VIEWER_TOKEN_COOKIE}.`,
);

/** `reason` may be shown to the viewer. */
function notForwardable(reason: string): Problem {
  return new Problem('user_group_not_forwardable', reason);
}

/** Reports a schema, of the catalogue or of the mapping, that leads to no data source. */
export const incompleteMapping = notForwardable(
  'A schema of the catalogue or of the mapping leads to no data source. Map it, or give it a default; "data_sources" of ' +
    'POST /v1/resolve lists the schemas that lead to one.',
);

export const forwardAuth = endpoint({
  operationId: 'forwardAuth',
  method: 'GET',
  // Some proxies keep the method of the viewer's request.
  aliasMethods: ['HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  paths: [FORWARD_AUTH_PATH, BELOW_FORWARD_AUTH],
  permissions: ['read-write', 'read-only', 'resolve', 'embed'],
  purpose: 'resolve tokens',
  protocol: 'forward-auth',
  query,
  body: ignoredBody,
  prefetch: (caller, _body, { raw }, now) => {
    const token = presentedViewerToken(raw);
    return token === null ? null : resolutionQuery(caller, token, now);
  },
  handle: async ({ context, caller, query, request, reply }) => {
    const token = presentedViewerToken(request.raw);
    const viewer = token === null ? null : await identifyViewer(context, caller, token);
    if (viewer === null) throw viewerUnauthenticated;
    if (query.properties !== undefined) await context.cpu.turn(viewer.userGroup.properties?.length ?? 0);
    reply.headers(viewerHeaders(viewer, query));
    context.usage.count(viewer.userGroup, 'forward_authentications', context.clock());
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
      'your own id of the data source or, without a catalogue, what the mapping says. The header of a property ends with its ' +
      'name, in which letters, digits and `_` stay. If a schema leads to no data source, a property is absent, empty, or ' +
      `neither a text nor a number, or there are more than ${MAX_VALUES} of both or ${MAX_VIEWER_HEADER_BYTES} bytes, ` +
      'the response is 401 and not a part of them.\n\n' +
      'Every method does the same, and so does every path below this one, where path and query are those of the viewer and ' +
      'are ignored. So are the body, the origin and the preconditions of the request. ' +
      'The proxy must remove all `X-User-Group-` headers that come from outside.',
    responses: {
      200: {
        description: 'The viewer, in headers.',
        headers: [
          'X-User-Group-Id',
          'X-User-Group-Name',
          'X-User-Group-Data-Source-40',
          'X-User-Group-Property-customer_id',
        ],
      },
    },
    problems: ['viewer_unauthenticated', 'user_group_not_forwardable'],
  },
});
