// References of the API description to its components.

import type { Schema } from '../../src/http/schema.ts';

const REFERENCE = '#/components/schemas/';

/** Returns the schema with the schemas that it refers to in their places. */
export function withoutReferences(schema: Schema, schemas: Readonly<Record<string, Schema>>): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.$ref?.startsWith?.(REFERENCE)
      ? withoutReferences(schemas[value.$ref.slice(REFERENCE.length)]!, schemas)
      : value,
  );
}
