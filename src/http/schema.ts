// Schemas of responses as the API description uses them: the tests check every response against them.

import type { Schema } from '../domain/schema-value.ts';

export type { Schema };

export const timestampSchema = {
  type: 'string',
  format: 'date-time',
  description: 'RFC 3339, UTC.',
} as const satisfies Schema;

export function timestampOrNullSchema(description: string = timestampSchema.description) {
  return { ...timestampSchema, type: ['string', 'null'], description } as const satisfies Schema;
}

const nextCursorSchema = {
  type: ['string', 'null'],
  description: 'The `cursor` of the next page; null on the last one.',
} as const satisfies Schema;

export function successSchema(
  title: string,
  properties: Record<string, Schema>,
  optional?: readonly string[],
): Schema {
  return namedSchema(title, { success: { type: 'integer', const: 1 }, ...properties }, optional);
}

export function pageSchema(title: string, member: string, items: Schema): Schema {
  return successSchema(title, { [member]: { type: 'array', items }, next_cursor: nextCursorSchema });
}

export function namedSchema(
  title: string,
  properties: Record<string, Schema>,
  optional?: readonly string[],
): Schema {
  return { title, ...objectSchema(properties, optional) };
}

/** Allows additional members: `/v1` grows, and clients must not break when it does. */
export function objectSchema(properties: Record<string, Schema>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required };
}
