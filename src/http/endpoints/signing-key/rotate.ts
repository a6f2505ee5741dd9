import { bodyType } from '../../../domain/request-body.ts';
import { rotateKeySet } from '../../../operations/signing-key/key-set.ts';
import { endpoint } from '../../endpoint.ts';
import { responses, signingKeysBody } from './representation.ts';

export const signingKeyRotationBody = bodyType({
  name: 'SigningKeyRotation',
  fields: {
    revoke: {
      type: 'boolean',
      default: false,
      description: 'Whether the previous keys are no longer trusted, for example because one has leaked.',
    },
  },
  required: [],
  convert: ({ value }) => value,
  isOptional: true,
});

export const rotateSigningKeys = endpoint({
  operationId: 'rotateSigningKeys',
  method: 'POST',
  paths: ['/v1/signing-keys/rotate'],
  permissions: ['admin'],
  purpose: 'rotate signing keys',
  body: signingKeyRotationBody,
  handle: async ({ context, caller, body }) =>
    signingKeysBody(context, await rotateKeySet(context, caller, body)),
  description: {
    tag: 'Embed tokens',
    summary: 'Rotate the signing keys',
    text:
      'Publishes a new key of each algorithm, which signs six minutes later, when every verifier that honours `max-age` ' +
      'has it. The previous keys sign until then, and remain published until the last token that they signed has expired. ' +
      'Safe to retry: while new keys do not sign yet, the call returns them.\n\nWith `revoke` the new keys sign ' +
      'immediately and the previous ones are removed: this service rejects their tokens from the next request on, other ' +
      'verifiers when they fetch the keys again, and until then these may reject new tokens.',
    requests: {
      rotate: { summary: 'Without interruption', value: { revoke: false } },
      revoke: { summary: 'A key has leaked', value: { revoke: true } },
    },
    responses,
  },
});
