import { parseIntegration, settingsSchemas } from '../../../domain/embed-token/mint.ts';
import {
  type IntegrationBody,
  type IntegrationType,
  integrationDefinition,
  integrationFields,
  secretField,
} from '../../../domain/integration.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { putIntegration as put } from '../../../operations/integration/integration.ts';
import { documentEndpoints } from '../../document-endpoints.ts';
import type { Schema } from '../../schema.ts';

const fields = { ...integrationFields, secret: secretField };

export const integrationBody = bodyType<IntegrationBody>({
  name: 'Integration',
  fields,
  required: ['type'],
  convert: parseIntegration,
});

const metabase = {
  type: 'metabase',
  ttl_seconds: 600,
  settings: { url: 'https://metabase.example.com', resources: [{ dashboard: 7 }], properties: ['region'] },
  claims: { region: { property: 'region' }, customer: { field: 'provided_id' } },
};

/** Useful ones, by their types. */
export const integrationExamples = {
  jwt: {
    type: 'jwt',
    settings: { audience: 'cube', properties: ['region'] },
    claims: { tenant: { field: 'provided_id' } },
  },
  metabase: { ...metabase, secret: 'the-embedding-secret-of-metabase' },
  superset: {
    type: 'superset',
    secret: 'the-guest-token-secret-of-superset',
    settings: {
      audience: 'superset',
      resources: [{ type: 'dashboard', id: '0e4e0b4c-8d5c-4a3a-9f5e-2f1a7b6c5d4e' }],
      row_level_security: [{ dataset: 12, column: 'customer_id', value: { field: 'provided_id' } }],
    },
  },
  lightdash: {
    type: 'lightdash',
    secret: 'the-embedding-secret-of-lightdash',
    settings: { resources: [{ dashboardSlug: 'revenue' }] },
    claims: { customer: { mapping: '40' } },
  },
} as const satisfies Record<IntegrationType, object>;

const settingsTexts = Object.entries(settingsSchemas).map(([type, schema]) => {
  const { properties, required = [] } = schema as { properties: Record<string, Schema>; required?: string[] };
  const members = Object.entries(properties).map(
    ([name, { description }]) =>
      `  - \`${name}\`${required.includes(name) ? ' (required)' : ''}: ${description ?? ''}`,
  );
  return `- \`${type}\`\n${members.join('\n')}`;
});

const endpoints = documentEndpoints({
  definition: integrationDefinition,
  collection: 'integrations',
  name: 'Integration',
  tag: 'Embed tokens',
  idParameter: 'integration_id',
  readPermissions: ['admin'],
  writePermissions: ['admin'],
  body: integrationBody,
  fields: integrationFields,
  example: {
    integration_id: 'metabase',
    ...metabase,
    unrestricted: false,
    version: 1,
    created_at: '2026-03-02T09:30:00.000Z',
    updated_at: '2026-03-02T09:30:00.000Z',
  },
  requests: {
    jwt: { summary: 'A JWT for Cube or a gateway', value: integrationExamples.jwt },
    metabase: { summary: 'Guest embedding of Metabase', value: integrationExamples.metabase },
    superset: { summary: 'A guest token of Superset', value: integrationExamples.superset },
    lightdash: { summary: 'Embedding of Lightdash', value: integrationExamples.lightdash },
  },
  put,
  texts: {
    put:
      'Stores exactly the sent fields under this id. Values come only from the user group that a token is for: ' +
      '`{"property": "region"}`, `{"mapping": "40"}`, `{"field": "provided_id"}`, or the same for all: `{"constant": …}`. A ' +
      'property must be listed in `settings.properties`.\n\n`secret` is required for a new integration of the types ' +
      '`metabase`, `superset` (unless `algorithm` is `RS256`) and `lightdash`. It is stored encrypted and never returned; ' +
      `without it, an existing integration keeps its own. At most ${integrationDefinition.limit.documents} integrations.\n\n` +
      `The settings by type:\n\n${settingsTexts.join('\n')}\n\n` +
      'With `If-None-Match: *` the call only creates; with `If-Match: "…"`, the `ETag` of an earlier response, it replaces ' +
      'only that version. Otherwise the response is 412 `version_mismatch`.',
    read: 'Returns the integration, without its secret.',
    list: 'The integrations of the workspace and environment, without their secrets.',
    remove: 'Deletes the integration. Tokens that it has minted remain valid until they expire.',
  },
});

export const {
  put: putIntegration,
  read: readIntegration,
  list: listIntegrations,
  remove: removeIntegration,
} = endpoints;
