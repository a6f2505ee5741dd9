// The schema of properties: JSON Schema 2020-12. Patterns run on RE2, in linear time; references stay inside
// the schema; `format` is an annotation, the default of the specification.

import type { Violation } from '../../problem.ts';
import { compileSchema } from './compile.ts';

export const SCHEMA_BYTES = 64 * 1024;
const MAX_VIOLATIONS = 20;

/** Violations of the properties, each with its place in them. */
export type PropertyCheck = (properties: unknown) => Violation[];

/**
 * Only a deadline bounds the time of compiling and checking: call them in a thread. Both call `step`
 * repeatedly, which may throw to stop them. The schema and the properties must come from `parseExactly`.
 * Throws `SchemaInvalid`.
 */
export function compilePropertySchema(schema: unknown, step: () => void): PropertyCheck {
  return compileSchema(schema, { maxViolations: MAX_VIOLATIONS, step });
}
