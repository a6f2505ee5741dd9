// The thread that compiles property schemas and checks properties: what takes too long is ended with the thread, and
// never blocks a request of another caller.

import { parentPort } from 'node:worker_threads';
import { compilePropertySchema, type PropertyCheck, SchemaInvalid } from '../domain/property-schema.ts';
import type { FieldError } from '../problem.ts';

export interface ValidatorRequest {
  /** JSON text. */
  schema: string;
  /** JSON text; null compiles the schema and tries it. */
  properties: string | null;
}

export type ValidatorReply = { faults: FieldError[] } | { pointer: string; invalid: string };

const MAX_COMPILED = 100;
const compiled = new Map<string, PropertyCheck>();

parentPort?.on('message', (request: ValidatorRequest) => parentPort?.postMessage(reply(request)));
// The first schema takes a hundred times as long as the next.
compilePropertySchema({});
parentPort?.postMessage('ready');

function reply({ schema, properties }: ValidatorRequest): ValidatorReply {
  try {
    const check = checkOf(schema);
    const faults = check(properties === null ? {} : JSON.parse(properties));
    return { faults: properties === null ? [] : faults };
  } catch (error) {
    if (error instanceof SchemaInvalid) return { pointer: error.pointer, invalid: error.message };
    // A reference that leads to itself without consuming data.
    if (error instanceof RangeError) return { pointer: '', invalid: 'must not refer to itself endlessly' };
    throw error;
  }
}

function checkOf(schema: string): PropertyCheck {
  const check = compiled.get(schema) ?? compilePropertySchema(JSON.parse(schema));
  compiled.delete(schema);
  compiled.set(schema, check);
  if (compiled.size > MAX_COMPILED) compiled.delete(compiled.keys().next().value!);
  return check;
}
