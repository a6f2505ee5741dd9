import { jsonPointer } from '../json/strict-json.ts';
import { truncate } from '../truncate.ts';

export type SchemaPath = readonly (string | number)[];

/** A schema that cannot be used; the message says why. */
export class SchemaInvalid extends Error {
  override readonly name = 'SchemaInvalid';
  /** Place in the schema. */
  readonly pointer: string;

  constructor(path: SchemaPath, message: string) {
    super(truncate(message));
    this.pointer = jsonPointer(path);
  }
}
