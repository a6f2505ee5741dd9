// The public keys of an issuer of embed tokens, for the tools that verify them.

import { hash } from 'node:crypto';
import {
  jsonWebKeySet,
  MAX_AGE_SECONDS,
  publishedKeys,
  type SigningKey,
} from '../../../domain/signing-key/key-set.ts';
import { overloaded } from '../../../operations/refusals.ts';
import { readIssuer, type StoredKeySet } from '../../../operations/signing-key/key-set.ts';
import { UNKNOWN_TENANT } from '../../../scheduling/fair-queue.ts';
import { requestContext } from '../../endpoint.ts';
import type { PublicCall, PublicEndpoint } from '../../public-endpoint.ts';
import { JSON_TYPE } from '../../response/problem.ts';
import { namedSchema } from '../../schema.ts';

const EXAMPLE_KEY = {
  kty: 'EC',
  x: 'kg0WqK7nXPZ2WJbJLl2EUnBVUSVWcJgEnqZF0gb9oZs',
  y: 'D3vnJjXy0kn4n0zIBwW7bDBjRgLk0B3Bps5iSOZZ6g4',
  crv: 'P-256',
  kid: 'Zb6EMvnGQUH2yJY5XrQXbBoRSCm5T5i3Ba-V5Cwk0aM',
  alg: 'ES256',
  use: 'sig',
};

/**
 * Responds with `write` of the issuer in the path, or 304. Ignores other preconditions and malformed ones,
 * which caches send by themselves (RFC 9110 §13.1.3): a verifier must get the keys. Throws `not_found` and
 * `overloaded`.
 */
export async function respondFromIssuer(
  { context, request, reply }: PublicCall,
  write: (issuer: StoredKeySet, published: readonly SigningKey[]) => string,
): Promise<string | undefined> {
  context.activity.seen(UNKNOWN_TENANT);
  if (!context.store.admits('read')) throw overloaded;
  const { issuer_id: issuerId } = request.params as { issuer_id: string };
  const issuer = await readIssuer(requestContext(context, request), issuerId);
  const text = write(issuer, publishedKeys(issuer.keySet, context.clock()));
  // Digest of the text: it changes with the published keys, and with `UGS_PUBLIC_URL`.
  const tag = `"${hash('sha256', text, 'base64url')}"`;
  reply.header('etag', tag).header('cache-control', `max-age=${MAX_AGE_SECONDS}`);
  const { 'if-none-match': known } = request.headers;
  if (known === '*' || known?.includes(tag)) {
    reply.code(304);
    return undefined;
  }
  reply.header('content-type', JSON_TYPE);
  return text;
}

const text = { type: 'string' } as const;

export const keySet: PublicEndpoint = {
  operationId: 'readKeySet',
  path: '/issuers/:issuer_id/.well-known/jwks.json',
  isConditional: true,
  // Never locks verifiers out: only requests for unknown issuers are counted, as refused requests.
  isUnlimited: true,
  handle: (call) => respondFromIssuer(call, (_issuer, published) => jsonWebKeySet(published)),
  description: {
    tag: 'Service',
    summary: 'Read the keys of an issuer',
    text:
      'The JSON Web Key Set (RFC 7517) that verifies embed tokens of the type `jwt`: `{iss}/.well-known/jwks.json`. A new ' +
      `key is published at least ${MAX_AGE_SECONDS} seconds before it signs, and a replaced one until the last token that it signed has ` +
      'expired, so a verifier that honours `max-age` finds the key of every valid token. With `If-None-Match` the ' +
      'response is 304 if nothing has changed.',
    responses: {
      200: {
        description: 'The published keys.',
        headers: ['ETag'],
        schema: namedSchema('JsonWebKeySet', {
          keys: {
            type: 'array',
            items: namedSchema(
              'JsonWebKey',
              { kid: text, alg: text, use: text, kty: text, crv: text, x: text, y: text, n: text, e: text },
              ['crv', 'x', 'y', 'n', 'e'],
            ),
          },
        }),
        examples: { keys: { summary: 'One key', value: { keys: [EXAMPLE_KEY] } } },
      },
      304: { description: 'The published keys are those that `If-None-Match` names.', headers: ['ETag'] },
    },
    problems: ['overloaded', 'database_unavailable'],
  },
};
