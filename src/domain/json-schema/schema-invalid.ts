import { jsonPointer } from '../json/strict-json.ts';
import { truncate } from '../truncate.ts';

export type SchemaPath = readonly (string | number)[];

/** Why a schema cannot be used. */
export class SchemaInvalid extends Error {
  override readonly name = 'SchemaInvalid';
  /** Place in the schema. */
  readonly pointer: string;

  constructor(path: SchemaPath, message: string) {
    super(truncate(message));
    this.pointer = jsonPointer(path);
  }
}
