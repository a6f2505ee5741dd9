// The schema of properties: JSON Schema 2020-12. Patterns run on RE2, in linear time; references stay inside the schema;
// `format` is an annotation, as the specification defaults to.

import type { FieldError } from '../problem.ts';
import { compileSchema } from './json-schema/compile.ts';

export const SCHEMA_BYTES = 64 * 1024;
const MAX_FAULTS = 20;

/** What the properties violate, each with its place in them. */
export type PropertyCheck = (properties: unknown) => FieldError[];

/** A check takes time that only a deadline bounds: call it in a thread. Throws `SchemaInvalid`. */
export function compilePropertySchema(schema: unknown): PropertyCheck {
  return compileSchema(schema, MAX_FAULTS);
}
