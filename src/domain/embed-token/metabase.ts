// A token for Metabase's guest embedding (static embedding): locked parameters of one dashboard or question.

import {
  type CommonSettings,
  type EmbedTokenType,
  jsonText,
  objectText,
  propertiesSetting,
  resourcesSetting,
  scalarsText,
} from './embed-token-type.ts';

interface MetabaseSettings extends CommonSettings {
  url: string;
}

/** A number, or an entity id. */
const contentId = { type: ['integer', 'string'], minimum: 1, minLength: 1, maxLength: 64 } as const;

export const metabase: EmbedTokenType<MetabaseSettings> = {
  settings: {
    type: 'object',
    properties: {
      url: {
        type: 'string',
        maxLength: 1_000,
        pattern: '^https?://[^\\x00-\\x20?#]+$',
        'x-pattern-detail': 'must be an http or https URL without a query or fragment',
        description: 'The URL of Metabase.',
      },
      resources: resourcesSetting(
        {
          type: 'object',
          properties: { dashboard: contentId, question: contentId },
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: false,
        },
        'The dashboards and questions that tokens may be for.',
      ),
      properties: propertiesSetting,
    },
    required: ['url', 'resources'],
    additionalProperties: false,
  },
  hasResources: true,
  namesGroup: false,
  signature: () => 'secret',
  payload: ({ claims, resource, expiresAt }) =>
    objectText([
      ['resource', resource!],
      [
        'params',
        objectText(claims.map(([name, value]) => [name, scalarsText(name, value, (scalar) => scalar)])),
      ],
      ['exp', jsonText(expiresAt)],
    ]),
  url: ({ url }, resource, token) => {
    const [kind] = Object.keys(JSON.parse(resource) as object);
    return `${url.replace(/\/+$/, '')}/embed/${kind}/${token}`;
  },
};
