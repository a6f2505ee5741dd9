// A JWT that names the user group. Either verified with the published keys, for Cube, Grafana and gateways;
// or signed with a secret of the tool, with the claims that the tool defines, for Tableau, Sigma and others.

import * as field from '../field.ts';
import { type Integration, violation } from '../integration.ts';
import { decodeString, type JsonArray, jsonText, treeText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { takeRandomText } from '../random-bytes.ts';
import { type SignatureAlgorithm, signatureAlgorithms } from '../signing-key/json-web-token.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  type LargeNumbers,
  refused,
  settingsSchema,
  type ValuePath,
} from './embed-token-type.ts';
import { withLargeNumbers } from './large-number.ts';
import type { GroupValues } from './template.ts';

interface JwtSettings extends CommonSettings {
  algorithm?: SignatureAlgorithm | 'HS256';
  audience: string | readonly string[];
  header?: { kid?: string; iss?: string };
  flat?: boolean;
}

const JTI_BYTES = 16;

/** Claims that the service determines. In upper case, because verifiers in Go ignore the case of names. */
const RESERVED = ['ISS', 'SUB', 'AUD', 'IAT', 'NBF', 'EXP', 'JTI', 'VIEWER', 'USER_GROUP'];
const headerMember = {
  type: 'string',
  maxLength: 255,
  pattern: '^[!-~]+$',
  'x-pattern-detail': 'must have only visible ASCII characters',
} as const;

export const jwt: EmbedTokenType<JwtSettings> = {
  label: 'a JWT that is verified with the published keys of this service: Cube, Grafana, a gateway',
  example: {
    settings: { audience: 'cube', properties: ['region'] },
    claims: { tenant: { field: 'provided_id' } },
  },
  claims: 'additional claims',
  settings: settingsSchema(
    {
      algorithm: {
        type: 'string',
        enum: [...signatureAlgorithms, 'HS256'],
        default: 'ES256',
        description:
          'RS256 is for tools that do not support ES256. HS256 signs with `secret`, for tools that do not read published keys.',
      },
      audience: {
        ...field.text,
        type: ['string', 'array'],
        items: field.text,
        minItems: 1,
        maxItems: 10,
        description:
          'The claim `aud`: the tools that accept the token. Each must compare it with its own name.',
      },
      header: {
        type: 'object',
        properties: { kid: headerMember, iss: headerMember },
        additionalProperties: false,
        description:
          'With HS256: members of the header of the token, such as the id of the secret in the tool. `iss` is a claim too.',
      },
      flat: {
        type: 'boolean',
        default: false,
        description:
          'Without the claim `user_group`, for tools that read each claim as an attribute of the viewer. Such a token does not resolve.',
      },
    },
    ['audience'],
  ),
  signature: ({ algorithm = 'ES256' }) => (algorithm === 'HS256' ? 'secret' : algorithm),
  // RFC 7518 requires a key as long as the hash.
  secretCharacters: 32,
  header: ({ header }) => header,
  namesGroup: ({ settings, claims }) => !settings.flat || !claims.some(({ name }) => name === 'sub'),
  hasUserGroup: ({ flat }) => !flat,
  violations: (integration) => [
    ...integration.claims
      .filter(({ name }) => isReserved(name, integration.settings))
      .map(({ path }) => violation(path, 'is a claim that the service determines')),
    ...(integration.settings.header !== undefined && integration.settings.algorithm !== 'HS256'
      ? [violation(['settings', 'header'], 'must be absent without the algorithm HS256')]
      : []),
  ],
  // Written as text: with objects, the payload took a fifth of the time of a token.
  payload: (minting) => {
    const { integration, values, claims, viewer, narrow, issuer, issuedAt, expiresAt } = minting;
    const { settings, settingsTree } = integration;
    const { large_numbers: mode = 'refuse', flat = false, header } = settings;
    const providedId = JSON.stringify(values.userGroup.providedId);
    const audience = treeText(settingsTree.get('"audience"')!);
    const properties = settingsTree.get('"properties"') as JsonArray | undefined;
    const viewerText = viewer === null ? '' : `,"viewer":${JSON.stringify(viewer)}`;
    let claimsText = '';
    let hasSubject = false;
    for (const [name, value, path] of claims) {
      const isSubject = name === 'sub';
      const text = isSubject ? subjectText(value, path) : withLargeNumbers(value, mode, path);
      claimsText += `,${JSON.stringify(name)}:${text}`;
      hasSubject ||= isSubject;
    }
    const iss = issuer ?? header?.iss;
    return (`{${iss === undefined ? '' : `"iss":${JSON.stringify(iss)},`}` +
      `${hasSubject ? '' : `"sub":${providedId},`}` +
      `"aud":${audience},"iat":${issuedAt},"nbf":${issuedAt},"exp":${expiresAt},` +
      `"jti":"${takeRandomText(JTI_BYTES, 'base64url')}"${viewerText}${claimsText}` +
      `${flat ? '' : `,"user_group":${userGroupText(values, properties?.elements ?? [], { narrow, mode })}`}}`) as JsonText;
  },
};

/** In a token that resolves, the service also determines the subject and the user group. */
function isReserved(name: string, { algorithm, flat }: Integration<JwtSettings>['settings']): boolean {
  if (name === 'sub') return algorithm !== 'HS256';
  if (name === 'user_group') return algorithm !== 'HS256' || !flat;
  return RESERVED.includes(name.toUpperCase());
}

/** A number becomes a text: RFC 7519 requires one, and libraries reject every other subject. */
function subjectText(value: JsonText, path: ValuePath): JsonText {
  if (value[0] === '"') return value;
  if (/^[-\d]/.test(value)) return jsonText(value);
  throw refused(path, 'must be a text or a number in the claim sub');
}

/** One nested object: tools that take top-level claims as roles or identities do not see a customer's properties. */
function userGroupText(
  values: GroupValues,
  properties: JsonArray['elements'],
  { narrow, mode }: { narrow: JsonText | null; mode: LargeNumbers },
): string {
  const { teamId, providedId, environment, version, mapping } = values.userGroup;
  let propertiesText = '';
  for (const property of properties) {
    const name = treeText(property);
    const value = values.propertyByText(name);
    if (value === null) continue;
    const text = withLargeNumbers(value, mode, ['properties', decodeString(name)]);
    propertiesText += `${propertiesText === '' ? '' : ','}${name}:${text}`;
  }
  return (
    `{"id":${teamId},"provided_id":${JSON.stringify(providedId)},"environment":"${environment}",` +
    `"version":${version},"mapping":${mapping},"properties":{${propertiesText}}` +
    `${narrow === null ? '' : `,"narrow":${narrow}`}}`
  );
}
