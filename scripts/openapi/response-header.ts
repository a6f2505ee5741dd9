// Describes the headers of responses.

import type { OpenAPIV3_1 } from 'openapi-types';
import { MAX_AGE_SECONDS } from '../../src/domain/signing-key/key-set.ts';

export const EXAMPLE_REQUEST_ID = 'FsX-pj4u-6';

const PERCENT_ENCODED = "^(?:[0-9A-Za-z_.!~*'\\(\\)\\-]|%[0-9A-F]{2})+$";

export const responseHeaders = {
  'X-Request-Id': {
    description:
      'Identifies the request in the log of the service. An id that the caller sends in the header `X-Request-Id` is ' +
      'kept: up to 128 letters, digits and `._:=+/@-`, and nothing that looks like a token.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9A-Za-z_.:=+@\\/\\-]+$' },
    example: EXAMPLE_REQUEST_ID,
  },
  'Cache-Control': {
    description: 'Caches must not store responses, except the documents of an issuer.',
    required: true,
    schema: { type: 'string', enum: ['no-store', `max-age=${MAX_AGE_SECONDS}`] },
    example: 'no-store',
  },
  ETag: {
    description:
      'Identifies the version of the user group. Every change sets a new one; a call that changes nothing keeps it. A ' +
      'user group that is deleted and created again never repeats one.',
    required: true,
    schema: { type: 'string', pattern: '^"[!#-~]+"$' },
    example: '"12-3"',
  },
  'User-Group-Drift': {
    description:
      'The sent fields that differ from the stored ones, if any. Nothing was changed: use an update. ' +
      'A number and a string differ (`213` and `"213"` in a mapping), and so do `{}` and null.',
    schema: { type: 'string', pattern: '^[a-z_]+(, [a-z_]+)*$' },
    example: 'name, properties',
  },
  'User-Group-Suspended': {
    description: 'Present if the user group is suspended: its token does not resolve until it is resumed.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
  'User-Group-Violations': {
    description:
      'Percent-encoded JSON pointers to what violates a rule in the mode `report`, at most 20 and 4 KiB. The change was made.',
    schema: { type: 'string', pattern: '^/[^ ,]+(, /[^ ,]+)*$' },
    example: '/mapping/40, /properties/plan',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    required: true,
    schema: { type: 'string', pattern: '^(?:Token|Bearer|Basic) ' },
    example: 'Token realm="user-group-service"',
  },
  'X-User-Group-Id': {
    description: 'The `user_group_id`, percent-encoded.',
    required: true,
    schema: { type: 'string', pattern: PERCENT_ENCODED },
    example: 'acme-7',
  },
  'X-User-Group-Name': {
    description: 'The name of the user group, percent-encoded.',
    required: true,
    schema: { type: 'string', pattern: PERCENT_ENCODED },
    example: 'Acme%20Inc.',
  },
  'X-User-Group-Data-Source-40': {
    description: 'The data source for the schema `40`, percent-encoded. Each schema has such a header.',
    schema: { type: 'string', pattern: PERCENT_ENCODED },
    example: 'acme-orders',
  },
  'X-User-Group-Property-customer_id': {
    description:
      'The property `customer_id`, percent-encoded. Each property that the proxy asks for has such a header.',
    schema: { type: 'string', pattern: PERCENT_ENCODED },
    example: 'C-1042',
  },
  'Retry-After': {
    description: 'Seconds to wait before retrying.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  RateLimit: {
    description:
      'The requests that this API token has left in this process of the service (`r`), and the seconds until it has all ' +
      'of them again (`t`); only if the operator limits requests. See draft-ietf-httpapi-ratelimit-headers.',
    schema: { type: 'string', pattern: '^"api-token";r=[0-9]+;t=[0-9]+$' },
    example: '"api-token";r=599;t=42',
  },
  'RateLimit-Policy': {
    description: 'The requests that each API token has (`q`) in a window of so many seconds (`w`).',
    schema: { type: 'string', pattern: '^"api-token";q=[0-9]+;w=60$' },
    example: '"api-token";q=600;w=60',
  },
  Vary: {
    description: 'The response is compressed if the request accepts gzip.',
    required: true,
    schema: { type: 'string', enum: ['accept-encoding'] },
    example: 'accept-encoding',
  },
  Allow: {
    description: 'The methods that the path supports.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Z]+(, [A-Z]+)*$' },
    example: 'GET, PUT, POST',
  },
  'Content-Security-Policy': {
    description: 'The page loads and runs only what this service serves.',
    required: true,
    schema: { type: 'string', pattern: "^default-src 'none'; " },
    example: "default-src 'none'; script-src 'self'; style-src 'self'",
  },
  'X-Content-Type-Options': {
    description: 'Browsers must not guess another content type.',
    required: true,
    schema: { type: 'string', enum: ['nosniff'] },
    example: 'nosniff',
  },
  'Referrer-Policy': {
    description: 'Links do not reveal the page that they are on.',
    required: true,
    schema: { type: 'string', enum: ['no-referrer'] },
    example: 'no-referrer',
  },
} satisfies Record<string, OpenAPIV3_1.HeaderObject>;

export type ResponseHeader = keyof typeof responseHeaders;
