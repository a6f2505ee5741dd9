// The definition of a type of embed token: everything about one dashboard tool.

import type { Problem, Violation } from '../../problem.ts';
import * as field from '../field.ts';
import { claimInvalid, type Integration, type PlacedTemplate, violation } from '../integration.ts';
import { type JsonArray, objectText, parseTree, treeText } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import type { Schema } from '../schema-value.ts';
import type { SignatureAlgorithm } from '../signing-key/json-web-token.ts';
import { brokenRule, type TextRule } from './plain-text.ts';
import type { GroupValues } from './template.ts';

/** `secret`: signed with the secret of the integration (HS256). */
export type Signature = SignatureAlgorithm | 'secret';

export interface Minting<Settings = unknown> {
  integration: Integration<Settings>;
  values: GroupValues;
  /** Values of the claims; none is missing or empty. */
  claims: readonly ClaimValue[];
  /** One of `settings.resources`; null for a type without resources. */
  resource: JsonText | null;
  viewer: string | null;
  /** Properties that the token is narrowed to, and `values` has instead; null if it is not narrowed. */
  narrow: JsonText | null;
  /** The URL of the issuer; null if the token is not signed by a key of the service. */
  issuer: string | null;
  /** Seconds since 1970; earlier than now, for tools whose clocks are behind. */
  issuedAt: number;
  expiresAt: number;
}

/** The place of a value: in the user group or, for a constant, in the integration. */
export type ValuePath = readonly (string | number)[];
export type ClaimValue = readonly [name: string, value: JsonText, path: ValuePath];

interface SettingsSchema extends Schema {
  readonly properties: Readonly<Record<string, Schema & { description: string }>>;
  readonly required: readonly string[];
}

/** Members are methods, whose parameters are bivariant: types with different settings fit into one table. */
export interface EmbedTokenType<Settings> {
  /** Names the tool for people. */
  readonly label: string;
  /** The fields of a useful integration, without its type. */
  readonly example: Readonly<{ settings: object; claims?: object; secret?: string; ttl_seconds?: number }>;
  /** Names, for people, the part of a token that receives the claims of an integration. */
  readonly claims: string;
  readonly settings: SettingsSchema;
  /** The JSON Schema of a resource, if a token is for one of `settings.resources`. */
  readonly resource?: Schema;
  signature(settings: Settings): Signature;
  /** Minimum length of a secret, if longer than for other types. */
  readonly secretCharacters?: number;
  /** Further members of the header of a token that is signed with the secret. */
  header?(settings: Settings): object | undefined;
  /** Whether every token names the user group, and so restricts what its bearer sees; false if absent. */
  namesGroup?(integration: Integration<Settings>): boolean;
  /** Whether every token has the whole mapping and all listed properties; false if absent. */
  hasUserGroup?(settings: Settings): boolean;
  /** The templates outside `claims`. */
  templates?(integration: Integration<Settings>): readonly PlacedTemplate[];
  /** Violations that the schema cannot express. */
  violations?(integration: Integration<Settings>): readonly Violation[];
  /** The payload of the token. Throws `claim_missing` and `claim_invalid`. */
  payload(minting: Minting<Settings>): JsonText;
  /** URL at which the viewer's browser opens the token, for a type with resources. */
  url?(settings: Settings, resource: JsonText, token: string): string;
}

const propertiesSetting = {
  type: 'array',
  maxItems: 100,
  uniqueItems: true,
  items: field.text,
  description: 'The properties of user groups that may leave the service with a token.',
} as const;

export const MAX_RESOURCES = 100;

/** Setting of the resources that tokens may be for: a list, or the property of the user group that has it. */
export function resourcesSetting(items: Schema, description: string) {
  return {
    type: ['array', 'object'],
    minItems: 1,
    maxItems: MAX_RESOURCES,
    uniqueItems: true,
    items,
    properties: { property: field.text },
    required: ['property'],
    additionalProperties: false,
    description: `${description} Or \`{"property": "…"}\`: the property of the user group that has such a list.`,
  };
}

const largeNumbers = ['refuse', 'text', 'number'] as const;
export type LargeNumbers = (typeof largeNumbers)[number];

const largeNumbersSetting = {
  type: 'string',
  enum: largeNumbers,
  default: 'refuse',
  description:
    'Treatment of a number beyond 2^53, or so close to an integer, that JavaScript rounds it to another one: no token is ' +
    'minted, or it becomes a text with the same digits, or it stays a number, for tools that read every digit.',
} as const;

/** The JSON Schema of the settings of a type: its own, and those of every type. */
export function settingsSchema(
  properties: SettingsSchema['properties'],
  required: readonly string[],
): SettingsSchema {
  return {
    type: 'object',
    properties: { ...properties, properties: propertiesSetting, large_numbers: largeNumbersSetting },
    required,
    additionalProperties: false,
  };
}

export interface CommonSettings {
  properties?: readonly string[];
  large_numbers?: LargeNumbers;
}

/** Converts a scalar. Throws `claim_invalid`. */
export type ScalarConversion = (scalar: JsonText, path: ValuePath) => JsonText;

/** Writes the claims, whose values must be scalars or lists of scalars. Throws `claim_invalid` for any other. */
export function scalarsText(claims: readonly ClaimValue[], convert: ScalarConversion): JsonText {
  return objectText(claims.map(([name, value, path]) => [name, scalarOrList(value, path, convert)]));
}

function scalarOrList(value: JsonText, path: ValuePath, convert: ScalarConversion): JsonText {
  if (value[0] !== '[') return scalar(value, path, convert);
  const { elements } = parseTree(value) as JsonArray;
  const texts = elements.map((element, index) => scalar(treeText(element), [...path, index], convert));
  return `[${texts.join(',')}]` as JsonText;
}

function scalar(text: JsonText, path: ValuePath, convert: ScalarConversion): JsonText {
  if (text[0] !== '{' && text[0] !== '[') return convert(text, path);
  const detail = 'must be a text, a number, a boolean or a list of these for this type of integration';
  throw refused(path, detail);
}

export function refused(path: ValuePath, detail: string): Problem {
  return claimInvalid([violation(path, detail)]);
}

/** Throws `claim_invalid` for a text that breaks one of the rules. */
export function refuseText(text: string, rules: readonly TextRule[], path: ValuePath): void {
  const broken = brokenRule(text, rules);
  if (broken !== undefined) throw refused(path, broken.detail);
}
