// Generates types and the error codes of the client from the API description and from the schemas of the settings
// of integrations. openapi-typescript needs the API of TypeScript 5, which TypeScript 7 does not have.

import { execFileSync } from 'node:child_process';
import { embedTokenTypes } from '../src/domain/embed-token/embed-token.ts';
import { problems } from '../src/http/response/problem.ts';
import type { Schema } from '../src/http/schema.ts';
import { schemaName, withoutReferences } from './openapi/component-schemas.ts';

const SETTINGS = 'client/src/integration-settings.ts';
const SCHEMAS = 'client/src/schemas.ts';

/** Schemas of the description that the client sends. */
const SENT = [
  'UserGroupRequest',
  'ApiTokenRequest',
  'TokenRotation',
  'CatalogueSchema',
  'DataSource',
  'MappingPolicy',
  'PropertySchema',
  'Integration',
  'WebhookEndpoint',
  'SubscribedEventType',
] as const;
/** Those that it receives. */
const RECEIVED = [
  'UserGroup',
  'RotatedUserGroup',
  'ResolvedUserGroup',
  'ResolvedDataSource',
  'UnresolvedSchema',
  'ApiToken',
  'Whoami',
  'Event',
  'Usage',
  'EmbedToken',
  'IntegrationDocument',
  'SigningKeys',
  'SchemaDocument',
  'DataSourceDocument',
  'ConfigChanges',
  'WebhookEndpointDocument',
  'RotatedWebhookEndpoint',
  'WebhookDelivery',
  'WebhookAttempt',
  'WebhookEndpointHealth',
  'FailedWebhooksRedelivered',
] as const;

/** Returns the generated files by path. */
export function clientTypes(schemas: Readonly<Record<string, Schema>>): Record<string, string> {
  return { [SETTINGS]: settingsTypes(), [SCHEMAS]: schemaTypes(schemas) };
}

function schemaTypes(schemas: Readonly<Record<string, Schema>>): string {
  const member = (name: string, array: 'readonly ' | ''): string =>
    `  ${name}: ${typeText(withoutReferences(schemas[name]!, schemas, [...SENT, ...RECEIVED]), array)};`;
  // Arrays in responses are not readonly, because callers own what they receive.
  const members = [
    ...SENT.map((name) => member(name, 'readonly ')),
    ...RECEIVED.map((name) => member(name, '')),
  ];
  return formatted(`// Generated from the API description by \`npm run format\`.

import type { JsonValue } from './wire.ts';

/** Bodies of requests and responses, and parts of them, by the names of their schemas in the API description. */
export interface Schemas {
${members.join('\n')}
}

/** Error codes of the service. */
export const serviceCodes = [${Object.keys(problems).map((code) => JSON.stringify(code))}] as const;
`);
}

function settingsTypes(): string {
  const members = embedTokenTypes.map(
    ([type, { settings }]) => `  ${JSON.stringify(type)}: ${typeText(settings)};`,
  );
  return formatted(`// Generated from the service by \`npm run format\`.

import type { JsonValue } from './wire.ts';

/** The settings of an integration, by its type. */
export interface IntegrationSettings {
${members.join('\n')}
}
`);
}

function typeText(schema: Schema, array: 'readonly ' | '' = 'readonly '): string {
  const { $ref, type, enum: choices, const: constant, oneOf } = schema;
  if ($ref !== undefined) return `Schemas['${schemaName($ref)}']`;
  if (oneOf !== undefined) return oneOf.map((each) => typeText(each, array)).join(' | ');
  if (constant !== undefined) return JSON.stringify(constant);
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (type === undefined) return 'JsonValue';
  const texts = [type].flat().map((each) => singleTypeText(each as string, schema, array));
  return texts.join(' | ');
}

function singleTypeText(type: string, schema: Schema, array: 'readonly ' | ''): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `${array}(${typeText(schema.items ?? {}, array)})[]`;
    case 'object':
      return objectText(schema, array);
    default:
      return type;
  }
}

function objectText({ properties, required = [], ...schema }: Schema, array: 'readonly ' | ''): string {
  if (properties === undefined) {
    const { additionalProperties: value } = schema;
    return `{ readonly [name: string]: ${typeof value === 'object' ? typeText(value, array) : 'JsonValue | undefined'} }`;
  }
  const names = Object.keys(properties);
  const isOne = schema.minProperties === 1 && schema.maxProperties === 1;
  const members = Object.entries(properties).map(([name, member]) => {
    const comment = member.description === undefined ? '' : `/** ${member.description} */\n`;
    const isRequired = isOne || required.includes(name);
    return `${comment}${JSON.stringify(name)}${isRequired ? '' : '?'}: ${typeText(member, array)}${isRequired ? '' : ' | undefined'};`;
  });
  if (!isOne) return `{\n${members.join('\n')}\n}`;
  // TypeScript accepts an object with members of several types of a union; in a response, `in` distinguishes
  // them.
  const others = (name: string) => (array === '' ? [] : names.filter((each) => each !== name));
  return members
    .map(
      (member, index) =>
        `{ ${[member, ...others(names[index]!).map((each) => `${JSON.stringify(each)}?: undefined;`)].join(' ')} }`,
    )
    .join(' | ');
}

function formatted(text: string): string {
  const args = ['format', `--stdin-file-path=${SCHEMAS}`];
  return execFileSync('node_modules/.bin/biome', args, { input: text, encoding: 'utf8' });
}
