// A JWT that names the user group, verified with the published keys: for Cube, Grafana and gateways.

import { fault } from '../integration.ts';
import { type SignatureAlgorithm, signatureAlgorithms } from '../json-web-token.ts';
import { takeRandomBytes } from '../random-bytes.ts';
import type { JsonText } from '../strict-json.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  jsonText,
  objectText,
  propertiesSetting,
} from './embed-token-type.ts';
import type { GroupValues } from './template.ts';

interface JwtSettings extends CommonSettings {
  algorithm?: SignatureAlgorithm;
  audience: string | readonly string[];
}

const audience = { type: 'string', minLength: 1, maxLength: 255 } as const;
const JTI_BYTES = 16;

/** The service determines these. */
const RESERVED = ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'viewer', 'user_group'];

export const jwt: EmbedTokenType<JwtSettings> = {
  settings: {
    type: 'object',
    properties: {
      algorithm: {
        type: 'string',
        enum: signatureAlgorithms,
        default: 'ES256',
        description: 'RS256 is for tools that do not support ES256.',
      },
      audience: {
        ...audience,
        type: ['string', 'array'],
        items: audience,
        minItems: 1,
        maxItems: 10,
        description:
          'The claim `aud`: the tools that accept the token. Each must compare it with its own name.',
      },
      properties: propertiesSetting,
    },
    required: ['audience'],
    additionalProperties: false,
  },
  hasResources: false,
  namesGroup: true,
  signature: ({ algorithm = 'ES256' }) => algorithm,
  faults: ({ claims }) =>
    claims
      .filter(({ name }) => RESERVED.includes(name))
      .map(({ path }) => fault(path, 'is a claim that the service determines')),
  payload: ({ integration: { settings }, values, claims, viewer, issuer, issuedAt, expiresAt }) =>
    objectText([
      ['iss', jsonText(issuer!)],
      ['sub', jsonText(values.userGroup.providedId)],
      ['aud', jsonText(settings.audience)],
      ['iat', jsonText(issuedAt)],
      ['nbf', jsonText(issuedAt)],
      ['exp', jsonText(expiresAt)],
      ['jti', jsonText(takeRandomBytes(JTI_BYTES).toString('base64url'))],
      ['viewer', viewer === null ? undefined : jsonText(viewer)],
      ...claims,
      ['user_group', userGroupText(values, settings.properties ?? [])],
    ]),
};

/** One nested object: tools that take top-level claims as roles or identities do not see a customer's properties. */
function userGroupText(values: GroupValues, properties: readonly string[]): JsonText {
  const { teamId, providedId, environment, version, mapping } = values.userGroup;
  return objectText([
    ['id', jsonText(teamId)],
    ['provided_id', jsonText(providedId)],
    ['environment', jsonText(environment)],
    ['version', jsonText(version)],
    ['mapping', mapping ?? ('null' as JsonText)],
    ['properties', objectText(properties.map((name) => [name, values.property(name) ?? undefined]))],
  ]);
}
