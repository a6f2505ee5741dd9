import { findKeySet } from '../../../operations/signing-key/key-set.ts';
import { endpoint } from '../../endpoint.ts';
import { responses, signingKeysBody } from './representation.ts';

export const listSigningKeys = endpoint({
  operationId: 'listSigningKeys',
  method: 'GET',
  paths: ['/v1/signing-keys'],
  permissions: ['admin'],
  purpose: 'list signing keys',
  handle: async ({ context, caller }) => signingKeysBody(context, await findKeySet(context, caller)),
  description: {
    tag: 'Embed tokens',
    summary: 'List the signing keys',
    text:
      'The issuer of embed tokens of the type `jwt` in this workspace and environment, and its published keys. The keys ' +
      'are created with the first integration that needs them.',
    responses,
  },
});
