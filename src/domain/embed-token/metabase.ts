// A token for Metabase's guest embedding (static embedding): locked parameters of one dashboard or question.

import { decodeString, jsonText, objectText } from '../json/json-tree.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  refused,
  refuseText,
  resourcesSetting,
  type ScalarConversion,
  scalarsText,
  settingsSchema,
} from './embed-token-type.ts';
import { withLargeNumbers } from './large-number.ts';
import type { TextRule } from './plain-text.ts';

interface MetabaseSettings extends CommonSettings {
  url: string;
}

/** A number, or an entity id. */
const contentId = { type: ['integer', 'string'], minimum: 1, minLength: 1, maxLength: 64 } as const;

const resource = {
  type: 'object',
  properties: { dashboard: contentId, question: contentId },
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const;

export const metabase: EmbedTokenType<MetabaseSettings> = {
  label: 'guest embedding of Metabase',
  example: {
    ttl_seconds: 600,
    settings: { url: 'https://metabase.example.com', resources: [{ dashboard: 7 }], properties: ['region'] },
    claims: { region: { property: 'region' }, customer: { field: 'provided_id' } },
    secret: 'the-embedding-secret-of-metabase',
  },
  claims: 'the `params`',
  settings: settingsSchema(
    {
      url: {
        type: 'string',
        maxLength: 1_000,
        pattern: '^https?://[^\\x00-\\x20?#]+$',
        'x-pattern-detail': 'must be an http or https URL without a query or fragment',
        description: 'The URL of Metabase.',
      },
      resources: resourcesSetting(resource, 'The dashboards and questions that tokens may be for.'),
    },
    ['url', 'resources'],
  ),
  resource,
  signature: () => 'secret',
  payload: ({ integration, claims, resource, expiresAt }) =>
    objectText([
      ['resource', resource!],
      ['params', scalarsText(claims, parameterText(integration.settings))],
      ['exp', jsonText(expiresAt)],
    ]),
  url: ({ url }, resource, token) => {
    const [kind] = Object.keys(JSON.parse(resource) as object);
    return `${url.replace(/\/+$/, '')}/embed/${kind}/${token}`;
  },
};

/** A variable of the type number would match each of them. Metabase reads a part by its leading digits. */
const NUMBERS: TextRule = {
  pattern: /^(?:\s*(?:[-+]?\.?\p{Nd}[^,]*)?,)+\s*(?:[-+]?\.?\p{Nd}[^,]*)?$/u,
  detail: 'must not be several numbers with commas, which Metabase reads as a list',
};

/** Metabase binds values, so a text cannot become SQL. A field filter without a value matches every row. */
function parameterText({ large_numbers: mode = 'refuse' }: MetabaseSettings): ScalarConversion {
  return (scalar, path) => {
    if (scalar[0] === '"') refuseText(decodeString(scalar), [NUMBERS], path);
    if (scalar === 'false') throw refused(path, 'must not be false, which Metabase reads as no value');
    return withLargeNumbers(scalar, mode, path);
  };
}
