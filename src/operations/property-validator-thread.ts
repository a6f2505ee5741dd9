// The thread that compiles property schemas and checks properties: what takes too long is ended with the thread, and
// never blocks a request of another caller.

import { parentPort } from 'node:worker_threads';
import { SchemaInvalid } from '../domain/json-schema/schema-invalid.ts';
import { compilePropertySchema, type PropertyCheck } from '../domain/property-schema.ts';
import type { FieldError } from '../problem.ts';

export interface ValidatorRequest {
  schemaId: number;
  /** JSON text; null if the thread has the schema: a copy of 64 KiB for each check would take longer than the check. */
  schema: string | null;
  /** The id of a schema that is not used again; null for none. */
  dropped: number | null;
  /** JSON texts; null compiles the schema and tries it. */
  properties: readonly string[] | null;
}

/** The faults of each properties, or why the schema cannot be used. */
export type ValidatorReply = { faults: FieldError[][] } | { pointer: string; invalid: string };

interface KnownSchema {
  text: string;
  check: PropertyCheck | null;
}

const schemas = new Map<number, KnownSchema>();

parentPort?.on('message', (request: ValidatorRequest) => parentPort?.postMessage(reply(request)));
// The first schema takes longer than the next.
compilePropertySchema({});
parentPort?.postMessage('ready');

function reply({ schemaId, schema, dropped, properties }: ValidatorRequest): ValidatorReply {
  if (dropped !== null) schemas.delete(dropped);
  if (schema !== null) schemas.set(schemaId, { text: schema, check: null });
  try {
    const known = schemas.get(schemaId)!;
    known.check ??= compilePropertySchema(JSON.parse(known.text));
    const { check } = known;
    if (properties !== null) return { faults: properties.map((text) => check(JSON.parse(text))) };
    check({});
    return { faults: [] };
  } catch (error) {
    if (error instanceof SchemaInvalid) return { pointer: error.pointer, invalid: error.message };
    // A reference that leads to itself without consuming data.
    if (error instanceof RangeError) return { pointer: '', invalid: 'must not refer to itself endlessly' };
    throw error;
  }
}
