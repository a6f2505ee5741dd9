// A token for Lightdash's embedding: user attributes that the row filters of its models read.

import * as field from '../field.ts';
import { decodeString, jsonText, objectText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { normalize } from '../normalize.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  refused,
  refuseText,
  resourcesSetting,
  type ScalarConversion,
  scalarsText,
  settingsSchema,
  type ValuePath,
} from './embed-token-type.ts';
import { quotedRules, type TextRule } from './plain-text.ts';
import type { GroupValues } from './template.ts';

const flags = [
  'canExportCsv',
  'canExportDashboardCsv',
  'canExportImages',
  'canExportPagePdf',
  'canDateZoom',
  'canExplore',
  'canViewUnderlyingData',
  'canViewDataApps',
  'stickyHeader',
] as const;
const flag = { type: 'boolean' } as const;

const options = {
  type: 'object',
  properties: {
    ...Object.fromEntries(flags.map((name) => [name, flag])),
    dashboardFiltersInteractivity: {
      type: 'object',
      properties: {
        enabled: { type: ['boolean', 'string'], enum: [true, false, 'some', 'all', 'none'] },
        allowedFilters: { type: 'array', maxItems: 100, items: field.text },
        hidden: flag,
        canAddFilters: flag,
      },
      required: ['enabled'],
      additionalProperties: false,
    },
    parameterInteractivity: {
      type: 'object',
      properties: { enabled: flag },
      required: ['enabled'],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
  description:
    'What a viewer may do; Lightdash allows none of it by default. `canExplore`, `canViewUnderlyingData` and ' +
    '`canViewDataApps` let viewers query more than the dashboard shows: row filters must restrict every model.',
} as const;

interface LightdashSettings extends CommonSettings {
  options?: Readonly<Record<string, unknown>>;
}

/** Content type of each id, and its options; all if absent. */
const contents: Record<string, { type: string; options?: readonly string[] }> = {
  dashboardUuid: { type: 'dashboard' },
  dashboardSlug: { type: 'dashboard' },
  contentId: { type: 'chart', options: ['canExportCsv', 'canExportImages', 'canViewUnderlyingData'] },
  appUuid: { type: 'dataApp', options: [] },
};

const resource = {
  type: 'object',
  properties: Object.fromEntries(Object.keys(contents).map((name) => [name, field.text])),
  minProperties: 1,
  maxProperties: 1,
  additionalProperties: false,
} as const;

export const lightdash: EmbedTokenType<LightdashSettings> = {
  label: 'embedding of Lightdash',
  example: {
    secret: 'the-embedding-secret-of-lightdash',
    settings: { resources: [{ dashboardSlug: 'revenue' }] },
    claims: { customer: { mapping: '40' } },
  },
  claims: 'the `userAttributes`',
  settings: settingsSchema(
    {
      resources: resourcesSetting(
        resource,
        'The dashboards, charts (`contentId`) and data apps (`appUuid`) that tokens may be for.',
      ),
      options,
    },
    ['resources'],
  ),
  resource,
  signature: () => 'secret',
  payload: ({ integration: { settings }, values, claims, resource, viewer, expiresAt }) =>
    objectText([
      ['content', jsonText(resourceContent(resource!, settings))],
      ['userAttributes', scalarsText(claims, attributeText)],
      ['user', jsonText({ externalId: viewerExternalId(viewer, values) })],
      ['exp', jsonText(expiresAt)],
    ]),
};

function resourceContent(resource: JsonText, { options = {} }: LightdashSettings): object {
  const id = JSON.parse(resource) as Record<string, string>;
  const { type, options: names } = contents[Object.keys(id)[0]!]!;
  const ofType = Object.entries(options).filter(([name]) => names?.includes(name) ?? true);
  return { type, ...id, ...Object.fromEntries(ofType) };
}

/**
 * Lightdash writes a value between quotes into SQL. Before its fix of GHSA-r4xc-vwqr-3252 it escaped nothing;
 * since then, it doubles quotes and backslashes, but removes comments and invisible characters and composes
 * the others, after which the value of one customer can equal that of another. All versions replace
 * placeholders one after the other with `String.prototype.replace`, for which `$` has a meaning.
 */
const attributeRules: readonly TextRule[] = [
  ...quotedRules,
  { pattern: /\$/, detail: 'must not have a dollar sign' },
  { pattern: /--|\/\*|\*\//, detail: 'must not have --, /* or */, with which comments of SQL start and end' },
  { pattern: /[\u200b\ufeff]/, detail: 'must not have invisible characters' },
];

/**
 * White space with which the value of one customer can equal that of another: SQL charts of versions of autumn 2025
 * replace all of it by one space (lightdash/lightdash#17608), and Redshift ignores spaces at the end.
 */
const AMBIGUOUS_SPACE = /^\s|\s$|\s\s|[^\S ]/u;

/** Converts to text: attributes are texts. */
const attributeText: ScalarConversion = (scalar, path) => {
  if (scalar[0] !== '"') return jsonText(scalar);
  const text = decodeString(scalar);
  refuseAttribute(text, path);
  if (AMBIGUOUS_SPACE.test(text))
    throw refused(path, 'must have no white space but single spaces between other characters');
  return scalar;
};

/** Lightdash writes it into the SQL that tags queries. */
function viewerExternalId(viewer: string | null, { userGroup }: GroupValues): string {
  const externalId = viewer ?? userGroup.providedId;
  refuseAttribute(externalId, [viewer === null ? 'provided_id' : 'viewer']);
  return externalId;
}

function refuseAttribute(text: string, path: ValuePath): void {
  refuseText(text, attributeRules, path);
  if (normalize(text, 'NFC') !== text)
    throw refused(path, 'must be in the composed form of Unicode (NFC), because Lightdash converts it');
}
