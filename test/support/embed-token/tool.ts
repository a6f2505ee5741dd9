// The rules by which the tools decode the tokens of others, written from their published sources.
//
//   Metabase    src/metabase/embedding/jwt.clj, api/embed: HS256, 60 s of leeway, `resource` and `params` required
//   Superset    superset/security/manager.py, guest_token.py (6.1, and `attributes` of its main branch): PyJWT with `aud`, then
//               `user`, `resources`, `rls_rules`, `type`
//   Lightdash   packages/common, EmbedJwtSchema (1.167): HS256 with the secret of the project

import { Ajv2020 } from 'ajv/dist/2020.js';
import jsonwebtoken from 'jsonwebtoken';

const { verify } = jsonwebtoken;
const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });

const text = { type: 'string', minLength: 1 };
const scalar = { type: ['string', 'number', 'boolean'] };

const metabaseSchema = ajv.compile({
  type: 'object',
  properties: {
    resource: {
      type: 'object',
      properties: { dashboard: { type: ['integer', 'string'] }, question: { type: ['integer', 'string'] } },
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    // Metabase reads null and an empty list as no restriction.
    params: {
      type: 'object',
      additionalProperties: { oneOf: [scalar, { type: 'array', minItems: 1, items: scalar }] },
    },
    exp: { type: 'integer' },
  },
  required: ['resource', 'params', 'exp'],
  additionalProperties: false,
});

const supersetSchema = ajv.compile({
  type: 'object',
  properties: {
    user: {
      type: 'object',
      properties: {
        username: text,
        first_name: text,
        last_name: text,
        attributes: {
          type: 'object',
          additionalProperties: { oneOf: [scalar, { type: 'array', items: scalar }] },
        },
      },
      required: ['username'],
      additionalProperties: false,
    },
    resources: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        properties: { type: { type: 'string', const: 'dashboard' }, id: { type: ['string', 'integer'] } },
        required: ['type', 'id'],
        additionalProperties: false,
      },
    },
    rls_rules: {
      type: 'array',
      items: {
        type: 'object',
        properties: { dataset: { type: 'integer' }, clause: text },
        required: ['clause'],
        additionalProperties: false,
      },
    },
    iat: { type: 'number' },
    exp: { type: 'number' },
    aud: text,
    type: { type: 'string', const: 'guest' },
  },
  required: ['user', 'resources', 'rls_rules', 'iat', 'exp', 'aud', 'type'],
  additionalProperties: false,
});

const flags = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]));

const content = (type: string, member: string, options: object) => ({
  type: 'object',
  properties: {
    type: { type: 'string', const: type },
    [member]: { type: 'string' },
    projectUuid: { type: 'string' },
    ...flags('isPreview'),
    ...options,
  },
  required: ['type', member],
  additionalProperties: false,
});

const dashboardOptions = {
  ...flags('canExportCsv', 'canExportDashboardCsv', 'canExportImages', 'canExportPagePdf', 'canDateZoom'),
  ...flags('canExplore', 'canViewUnderlyingData', 'canViewDataApps', 'stickyHeader'),
  dashboardFiltersInteractivity: {
    type: 'object',
    properties: {
      enabled: { type: ['boolean', 'string'], enum: [true, false, 'some', 'all', 'none'] },
      allowedFilters: { type: 'array', items: { type: 'string' } },
      ...flags('hidden', 'canAddFilters'),
    },
    required: ['enabled'],
    additionalProperties: false,
  },
  parameterInteractivity: {
    type: 'object',
    properties: flags('enabled'),
    required: ['enabled'],
    additionalProperties: false,
  },
};

const lightdashSchema = ajv.compile({
  type: 'object',
  properties: {
    content: {
      oneOf: [
        content('dashboard', 'dashboardUuid', dashboardOptions),
        content('dashboard', 'dashboardSlug', dashboardOptions),
        content('chart', 'contentId', flags('canExportCsv', 'canExportImages', 'canViewUnderlyingData')),
        content('dataApp', 'appUuid', {}),
      ],
    },
    userAttributes: {
      type: 'object',
      additionalProperties: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    },
    user: {
      type: 'object',
      properties: { externalId: { type: 'string' }, email: { type: 'string' } },
      additionalProperties: false,
    },
    iat: { type: 'number' },
    exp: { type: 'number' },
  },
  required: ['content', 'exp'],
  additionalProperties: false,
});

type Claims = Record<string, unknown>;

/**
 * Decodes tokens as the tools do. Throws if the tool would reject the token at this time, in milliseconds.
 */
export const decodeAs = {
  metabase: (token: string, secret: string, now = Date.now()): Claims =>
    checked(metabaseSchema, verified(token, secret, now, { clockTolerance: 60 })),
  superset: (token: string, secret: string, now = Date.now()): Claims =>
    checked(supersetSchema, verified(token, secret, now, { audience: 'superset' })),
  lightdash: (token: string, secret: string, now = Date.now()): Claims =>
    checked(lightdashSchema, verified(token, secret, now, {})),
};

function verified(
  token: string,
  secret: string,
  now: number,
  options: { clockTolerance?: number; audience?: string },
) {
  return verify(token, secret, { ...options, algorithms: ['HS256'], clockTimestamp: now / 1_000 }) as Claims;
}

function checked(check: ReturnType<typeof ajv.compile>, claims: Claims): Claims {
  if (check(claims)) return claims;
  throw new Error(`the tool rejects the claims: ${ajv.errorsText(check.errors)}`);
}
