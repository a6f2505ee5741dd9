import { signatureAlgorithms } from '../../../domain/signing-key/json-web-token.ts';
import { issuerUrl } from '../../../domain/signing-key/key-set.ts';
import type { PublicEndpoint } from '../../public-endpoint.ts';
import { namedSchema } from '../../schema.ts';
import { respondFromIssuer } from './key-set.ts';

/** Only the members that apply: the service signs tokens and has no sign-in endpoint. */
function openidMetadata(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    id_token_signing_alg_values_supported: signatureAlgorithms,
  };
}

const example = openidMetadata('https://groups.example.com/issuers/5f0c9a3be81d4c7704d0a1162');

export const openIdConfiguration: PublicEndpoint = {
  operationId: 'readOpenIdConfiguration',
  path: '/issuers/:issuer_id/.well-known/openid-configuration',
  isConditional: true,
  isUnlimited: true,
  handle: (call) =>
    respondFromIssuer(call, ({ keySet }) => {
      const issuer = issuerUrl(call.context.publicUrl, keySet);
      return JSON.stringify(openidMetadata(issuer));
    }),
  description: {
    tag: 'Service',
    summary: 'Read where an issuer publishes its keys',
    text:
      'For libraries that know only the issuer of a token (`iss`) and find its keys by OpenID Connect Discovery. It has no ' +
      'endpoints for signing in, because the service has none: libraries that require them cannot use it.',
    responses: {
      200: {
        description: 'The issuer, the address of its keys, and the algorithms that they may have.',
        headers: ['ETag'],
        schema: namedSchema('OpenIdConfiguration', {
          issuer: { type: 'string' },
          jwks_uri: { type: 'string' },
          id_token_signing_alg_values_supported: { type: 'array', items: { type: 'string' } },
        }),
        examples: { issuer: { summary: 'An issuer', value: example } },
      },
      304: { description: 'The response is the one that `If-None-Match` names.', headers: ['ETag'] },
    },
    problems: ['overloaded', 'database_unavailable'],
  },
};
