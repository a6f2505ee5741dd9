import type { JsonText } from '../../domain/json/strict-json.ts';
import {
  type PropertySchema,
  propertySchemaDefinition,
} from '../../domain/property-schema/property-schema.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, type NewDocument, putPrepared, type Target } from '../document/document.ts';
import { OVERLOADED, PropertySchemaInvalid } from './validator/validator.ts';

type SchemaContext = DocumentContext & Pick<Context, 'propertyValidator'>;

/**
 * Throws `invalid_request` if the schema cannot be used, and `overloaded` if no time is left for the change.
 */
export async function preparePropertySchema(
  { context: { store, propertyValidator }, caller, stored }: Target<SchemaContext>,
  { schema, mode }: PropertySchema,
): Promise<NewDocument> {
  const body = `{"schema":${schema},"mode":${JSON.stringify(mode)}}` as JsonText;
  if (stored?.body === body) return { body };
  try {
    await store.inTime(propertyValidator.compile(caller.workspaceId, schema), () => OVERLOADED);
    return { body };
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    throw invalidField(`/schema${error.pointer}`, error.message);
  }
}

export const putPropertySchema = putPrepared(propertySchemaDefinition, preparePropertySchema);
