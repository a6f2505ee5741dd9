// A token for Lightdash's embedding: user attributes that the row filters of its models read.

import type { JsonText } from '../strict-json.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  jsonText,
  objectText,
  propertiesSetting,
  resourcesSetting,
  scalarsText,
} from './embed-token-type.ts';

const options = ['canExportCsv', 'canExportImages', 'canExportPagePdf', 'canDateZoom'] as const;

interface LightdashSettings extends CommonSettings {
  options?: Partial<Record<(typeof options)[number], boolean>>;
}

const dashboard = { type: 'string', minLength: 1, maxLength: 255 } as const;

export const lightdash: EmbedTokenType<LightdashSettings> = {
  settings: {
    type: 'object',
    properties: {
      resources: resourcesSetting(
        {
          type: 'object',
          properties: { dashboardUuid: dashboard, dashboardSlug: dashboard },
          minProperties: 1,
          maxProperties: 1,
          additionalProperties: false,
        },
        'The dashboards that tokens may be for.',
      ),
      options: {
        type: 'object',
        properties: Object.fromEntries(options.map((name) => [name, { type: 'boolean' }])),
        additionalProperties: false,
        description: 'What a viewer may do; Lightdash allows none of it by default.',
      },
      properties: propertiesSetting,
    },
    required: ['resources'],
    additionalProperties: false,
  },
  hasResources: true,
  namesGroup: false,
  signature: () => 'secret',
  payload: ({ integration: { settings }, values, claims, resource, viewer, expiresAt }) =>
    objectText([
      ['content', jsonText({ type: 'dashboard', ...(JSON.parse(resource!) as object), ...settings.options })],
      [
        'userAttributes',
        objectText(claims.map(([name, value]) => [name, scalarsText(name, value, attributeText)])),
      ],
      ['user', jsonText({ externalId: viewer ?? values.userGroup.providedId })],
      ['exp', jsonText(expiresAt)],
    ]),
};

/** Attributes are texts. */
function attributeText(scalar: JsonText): JsonText {
  return scalar[0] === '"' ? scalar : jsonText(scalar);
}
