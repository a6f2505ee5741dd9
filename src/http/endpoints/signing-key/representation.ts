// The signing keys of an environment in responses.

import { signatureAlgorithms } from '../../../domain/signing-key/json-web-token.ts';
import { issuerUrl, publishedKeys, signingKeyMembers } from '../../../domain/signing-key/key-set.ts';
import type { Context } from '../../../operations/context.ts';
import type { StoredKeySet } from '../../../operations/signing-key/key-set.ts';
import { successExample } from '../../description.ts';
import { jsonArray, jsonObject, successBody } from '../../json.ts';
import { namedSchema, successSchema, timestampOrNullSchema, timestampSchema } from '../../schema.ts';

export function signingKeysBody({ publicUrl, clock }: Context, stored: StoredKeySet | null): string {
  if (stored === null) return successBody({ issuer: null, jwks_url: null, signing_keys: jsonArray([]) });
  const { keySet } = stored;
  const issuer = issuerUrl(publicUrl, keySet);
  const now = clock();
  const keys = publishedKeys(keySet, now).map((key) => jsonObject(signingKeyMembers(key, keySet, now)));
  const jwks_url = `${issuer}/.well-known/jwks.json`;
  return successBody({ issuer, jwks_url, signing_keys: jsonArray(keys) });
}

const urlOrNull = { type: ['string', 'null'] } as const;

const SigningKeys = successSchema('SigningKeys', {
  issuer: { ...urlOrNull, description: 'The claim `iss`; null until the first integration that needs keys.' },
  jwks_url: { ...urlOrNull, description: 'Where tools fetch the public keys.' },
  signing_keys: {
    type: 'array',
    items: namedSchema('SigningKey', {
      kid: { type: 'string', description: 'The id of the key in tokens and in the published key set.' },
      algorithm: { type: 'string', enum: signatureAlgorithms },
      status: {
        type: 'string',
        enum: ['pending', 'signing', 'retiring'],
        description: 'All are published; `pending`: does not sign yet; `retiring`: no longer signs.',
      },
      signs_from: timestampSchema,
      published_until: timestampOrNullSchema('When it is removed; null if no other key follows it.'),
      public_key: { type: 'string', description: 'PEM, for tools that do not fetch keys.' },
    }),
  },
});

const PEM = `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEkg0WqK7nXPZ2WJbJLl2EUnBVUSVW
cJgEnqZF0gb9oZsPe+cmNfLSSfifTMgHBbtsMGNGAuTQHcGmzmJI5lnqDg==
-----END PUBLIC KEY-----
`;

const example = {
  issuer: 'https://groups.example.com/issuers/5f0c9a3be81d4c7704d0a1162',
  jwks_url: 'https://groups.example.com/issuers/5f0c9a3be81d4c7704d0a1162/.well-known/jwks.json',
  signing_keys: [
    {
      kid: 'Zb6EMvnGQUH2yJY5XrQXbBoRSCm5T5i3Ba-V5Cwk0aM',
      algorithm: 'ES256',
      status: 'signing',
      signs_from: '2026-03-02T09:30:00.000Z',
      published_until: null,
      public_key: PEM,
    },
  ],
};

export const responses = {
  200: {
    description: 'The issuer and its keys.',
    schema: SigningKeys,
    examples: successExample('keys', 'One key', example),
  },
};
