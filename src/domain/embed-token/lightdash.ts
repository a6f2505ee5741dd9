// A token for Lightdash's embedding: user attributes that the row filters of its models read.

import {
  type CommonSettings,
  type EmbedTokenType,
  jsonText,
  objectText,
  propertiesSetting,
  refused,
  refuseText,
  resourcesSetting,
  type ScalarConversion,
  scalarsText,
  type ValuePath,
} from './embed-token-type.ts';
import { quotedRules, type TextRule } from './plain-text.ts';
import type { GroupValues } from './template.ts';

const options = ['canExportCsv', 'canExportImages', 'canExportPagePdf', 'canDateZoom'] as const;

interface LightdashSettings extends CommonSettings {
  options?: Partial<Record<(typeof options)[number], boolean>>;
}

const dashboard = { type: 'string', minLength: 1, maxLength: 255 } as const;

export const lightdash: EmbedTokenType<LightdashSettings> = {
  label: 'embedding of Lightdash',
  example: {
    secret: 'the-embedding-secret-of-lightdash',
    settings: { resources: [{ dashboardSlug: 'revenue' }] },
    claims: { customer: { mapping: '40' } },
  },
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
      ['userAttributes', scalarsText(claims, attributeText)],
      ['user', jsonText({ externalId: externalIdOf(viewer, values) })],
      ['exp', jsonText(expiresAt)],
    ]),
};

/**
 * Lightdash writes a value between quotes into SQL. Before its fix of GHSA-r4xc-vwqr-3252 it escaped nothing; since then,
 * it doubles quotes and backslashes, but removes comments and invisible characters and composes the others, after which
 * the value of one customer can be that of another. All versions replace placeholders one after the other with
 * `String.prototype.replace`, for which `$` has a meaning.
 */
const attributeRules: readonly TextRule[] = [
  ...quotedRules,
  { pattern: /\$/, detail: 'must not have a dollar sign' },
  { pattern: /--|\/\*|\*\//, detail: 'must not have --, /* or */, with which comments of SQL start and end' },
  { pattern: /[\u200b\ufeff]/, detail: 'must not have invisible characters' },
];

/** Attributes are texts. */
const attributeText: ScalarConversion = (scalar, path) => {
  if (scalar[0] !== '"') return jsonText(scalar);
  refuseAttribute(JSON.parse(scalar) as string, path);
  return scalar;
};

/** Lightdash writes it into the SQL that tags queries. */
function externalIdOf(viewer: string | null, { userGroup }: GroupValues): string {
  const externalId = viewer ?? userGroup.providedId;
  refuseAttribute(externalId, [viewer === null ? 'provided_id' : 'viewer']);
  return externalId;
}

function refuseAttribute(text: string, path: ValuePath): void {
  refuseText(text, attributeRules, path);
  if (text.normalize('NFC') !== text)
    throw refused(path, 'must be in the composed form of Unicode (NFC), because Lightdash converts it');
}
