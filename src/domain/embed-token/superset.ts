// A guest token of Superset. Row-level security is a column and a value: the service writes the SQL.

import * as field from '../field.ts';
import { type Integration, violation } from '../integration.ts';
import { decodeString, type JsonArray, type JsonObject, jsonText, objectText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import {
  type CommonSettings,
  type EmbedTokenType,
  type Minting,
  refuseText,
  resourcesSetting,
  type ScalarConversion,
  scalarsText,
  settingsSchema,
} from './embed-token-type.ts';
import { withLargeNumbers } from './large-number.ts';
import { quotedRules } from './plain-text.ts';
import {
  type ClauseColumn,
  COLUMN_PATTERN,
  columnTypes,
  isReserved,
  sqlClause,
  stringEscapes,
} from './sql-clause.ts';
import { isOfGroup, parseTemplate, pathOfValue, type Template, templateSchema } from './template.ts';

interface Rule {
  dataset?: number;
  all_datasets?: true;
  column: string;
  type?: ClauseColumn['type'];
}

interface SupersetSettings extends CommonSettings {
  algorithm?: 'HS256' | 'RS256';
  audience: string;
  row_level_security?: readonly Rule[];
  string_escapes?: NonNullable<ClauseColumn['escapes']>;
}

const ruleSchema = {
  type: 'object',
  properties: {
    dataset: { type: 'integer', minimum: 1, description: 'The id of the data set that the rule restricts.' },
    all_datasets: {
      type: 'boolean',
      const: true,
      description: 'Instead of `dataset`: the rule restricts every data set, and each must have the column.',
    },
    column: {
      type: 'string',
      pattern: COLUMN_PATTERN,
      'x-pattern-detail':
        'must be a name of letters, digits and underscores, optionally after that of a table and a dot',
      description: 'Written into the SQL as it is.',
    },
    value: templateSchema,
    type: { type: 'string', enum: columnTypes, default: 'text', description: 'The type of the column.' },
  },
  required: ['column', 'value'],
  additionalProperties: false,
} as const;

const resource = {
  type: 'object',
  properties: {
    type: { type: 'string', const: 'dashboard' },
    id: { type: 'string', minLength: 1, maxLength: 64 },
  },
  required: ['type', 'id'],
  additionalProperties: false,
} as const;

export const superset: EmbedTokenType<SupersetSettings> = {
  label: 'a guest token of Superset',
  example: {
    secret: 'the-guest-token-secret-of-superset',
    settings: {
      audience: 'superset',
      resources: [{ type: 'dashboard', id: '0e4e0b4c-8d5c-4a3a-9f5e-2f1a7b6c5d4e' }],
      row_level_security: [{ dataset: 12, column: 'customer_id', value: { field: 'provided_id' } }],
    },
  },
  claims: 'the `attributes` of the guest',
  settings: settingsSchema(
    {
      algorithm: {
        type: 'string',
        enum: ['HS256', 'RS256'],
        default: 'HS256',
        description:
          'GUEST_TOKEN_JWT_ALGO. With RS256, GUEST_TOKEN_JWT_SECRET is the public key of the service, with which no one ' +
          'can mint a token; after a rotation it must be replaced.',
      },
      audience: { ...field.text, description: 'GUEST_TOKEN_JWT_AUDIENCE.' },
      resources: resourcesSetting(resource, 'The embedded dashboards that tokens may be for.'),
      row_level_security: {
        type: 'array',
        maxItems: 50,
        items: ruleSchema,
        description:
          'The rows that a user group sees: those whose `column` equals `value`, or one of its elements if it is a list, by all ' +
          'rules of a data set.',
      },
      string_escapes: {
        type: 'string',
        enum: stringEscapes,
        description:
          'How the database reads a quote or a backslash in a literal: `standard` (PostgreSQL, SQL Server, Oracle, ' +
          'Trino, SQLite) or `backslash` (Redshift, MySQL, MariaDB, BigQuery, Snowflake, ClickHouse, Databricks, Spark). If ' +
          'absent, no token is minted for a value with one.',
      },
    },
    ['audience', 'resources'],
  ),
  resource,
  signature: ({ algorithm }) => (algorithm === 'RS256' ? 'RS256' : 'secret'),
  templates: (integration) =>
    ruleTemplates(integration).map(({ template }, index) => ({
      path: ['settings', 'row_level_security', index, 'value'],
      template,
    })),
  violations: (integration) => [
    ...attributeViolations(integration),
    ...(integration.settings.row_level_security ?? []).flatMap((rule, index) => ruleViolations(rule, index)),
  ],
  payload: (minting) => {
    const { integration, claims, viewer, resource, issuedAt, expiresAt } = minting;
    const user = objectText([
      ['username', jsonText(nameOfGuest(minting))],
      ['first_name', viewer === null ? undefined : jsonText(viewer)],
      [
        'attributes',
        claims.length === 0 ? undefined : scalarsText(claims, attributeText(integration.settings)),
      ],
    ]);
    return objectText([
      ['user', user],
      ['resources', `[${resource!}]` as JsonText],
      ['rls_rules', jsonText(rowLevelClauses(minting))],
      ['iat', jsonText(issuedAt)],
      ['exp', jsonText(expiresAt)],
      ['aud', jsonText(integration.settings.audience)],
      ['type', jsonText('guest')],
    ]);
  },
};

/** The macro `get_guest_user_attribute` writes attributes into SQL unchanged. */
function attributeText({ large_numbers: mode = 'refuse' }: SupersetSettings): ScalarConversion {
  return (scalar, path) => {
    if (scalar[0] === '"') refuseText(decodeString(scalar), quotedRules, path);
    return withLargeNumbers(scalar, mode, path);
  };
}

/** The macro `current_username` writes the name into SQL unchanged. */
function nameOfGuest({ values }: Minting): string {
  const { providedId } = values.userGroup;
  refuseText(providedId, quotedRules, ['provided_id']);
  return providedId;
}

/** Only a rule restricts: data sets need not read attributes, and cannot in versions without the macro. */
function attributeViolations(integration: Integration<SupersetSettings>) {
  const hasAttributes = integration.claims.some(({ template }) => isOfGroup(template));
  const hasRule = ruleTemplates(integration).some(({ template }) => isOfGroup(template));
  if (!hasAttributes || hasRule || integration.isUnrestricted) return [];
  return [
    violation(
      ['unrestricted'],
      'must be true without a value of the user group in settings.row_level_security: attributes restrict only data sets that read them',
    ),
  ];
}

function ruleViolations({ dataset, all_datasets, column }: Rule, index: number) {
  const path = ['settings', 'row_level_security', index];
  return [
    ...((dataset === undefined) === (all_datasets === undefined)
      ? [violation(path, 'must have either dataset or "all_datasets": true')]
      : []),
    ...(isReserved(column) ? [violation([...path, 'column'], 'must not be a reserved word of SQL')] : []),
  ];
}

/** The rules with their templates, whose constants are exact. */
function ruleTemplates({
  settings,
  settingsTree,
}: Integration<SupersetSettings>): (Rule & { template: Template })[] {
  const trees = (settingsTree.get('"row_level_security"') as JsonArray | undefined)?.elements ?? [];
  return trees.map((tree, index) => ({
    ...settings.row_level_security![index]!,
    template: parseTemplate((tree as JsonObject).members.get('"value"')!),
  }));
}

function rowLevelClauses({
  integration,
  values,
}: Minting<SupersetSettings>): { dataset?: number; clause: string }[] {
  const { string_escapes: escapes = null } = integration.settings;
  return ruleTemplates(integration).map(({ dataset, column, type = 'text', template }) => {
    const clause = sqlClause({ column, type, escapes }, values.fill(template)!, pathOfValue(template));
    return dataset === undefined ? { clause } : { dataset, clause };
  });
}
