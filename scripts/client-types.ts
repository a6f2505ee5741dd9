// client/src/integration-settings.ts, generated from the schemas of the settings. openapi-typescript needs the API of
// TypeScript 5, which TypeScript 7 does not have.

import { spawnSync } from 'node:child_process';
import { embedTokenTypes } from '../src/domain/embed-token/mint.ts';
import type { Schema } from '../src/http/schema.ts';

export const CLIENT_TYPES = 'client/src/integration-settings.ts';

export function clientTypes(): string {
  const members = embedTokenTypes.map(([type, { settings }]) => `  ${type}: ${typeText(settings)};`);
  return formatted(`// Generated from the service by \`npm run format\`.

import type { JsonValue } from './wire.ts';

/** The settings of an integration, by its type. */
export interface IntegrationSettings {
${members.join('\n')}
}
`);
}

function typeText(schema: Schema): string {
  const { type, enum: choices, const: constant } = schema;
  if (constant !== undefined) return JSON.stringify(constant);
  if (choices !== undefined) return choices.map((choice) => JSON.stringify(choice)).join(' | ');
  if (type === undefined) return 'JsonValue';
  const texts = [type].flat().map((each) => singleTypeText(each as string, schema));
  return texts.join(' | ');
}

function singleTypeText(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
      return 'number';
    case 'array':
      return `readonly (${typeText(schema.items ?? {})})[]`;
    case 'object':
      return objectText(schema);
    default:
      return type;
  }
}

function objectText({ properties, required = [], ...schema }: Schema): string {
  if (properties === undefined) return '{ readonly [name: string]: JsonValue | undefined }';
  const isOne = schema.minProperties === 1 && schema.maxProperties === 1;
  const members = Object.entries(properties).map(([name, member]) => {
    const comment = member.description === undefined ? '' : `/** ${member.description} */\n`;
    const isRequired = isOne || required.includes(name);
    return `${comment}${name}${isRequired ? '' : '?'}: ${typeText(member)}${isRequired ? '' : ' | undefined'};`;
  });
  return isOne ? members.map((member) => `{ ${member} }`).join(' | ') : `{\n${members.join('\n')}\n}`;
}

function formatted(text: string): string {
  const args = ['format', `--stdin-file-path=${CLIENT_TYPES}`];
  const { stdout } = spawnSync('node_modules/.bin/biome', args, { input: text, encoding: 'utf8' });
  return stdout;
}
