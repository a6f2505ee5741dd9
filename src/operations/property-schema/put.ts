import type { Caller } from '../../domain/api-token.ts';
import { SINGLETON_ID } from '../../domain/document.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import type { Precondition } from '../../domain/precondition.ts';
import {
  type PropertySchema,
  propertySchemaDefinition,
} from '../../domain/property-schema/property-schema.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, putDocument, type StoredDocument } from '../document/document.ts';
import { OVERLOADED, PropertySchemaInvalid } from './validator/validator.ts';

type CompileContext = Pick<Context, 'store' | 'propertyValidator'>;

/** Creates or replaces the property schema. Throws `invalid_request` if it cannot be used. */
export async function putPropertySchema(
  context: DocumentContext & CompileContext,
  caller: Caller,
  sent: PropertySchema,
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  await refuseUnusableSchema(context, caller, sent);
  const replacement = () => ({ body: propertySchemaText(sent) });
  return putDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, replacement, precondition);
}

export function propertySchemaText({ schema, mode }: PropertySchema): JsonText {
  return `{"schema":${schema},"mode":${JSON.stringify(mode)}}` as JsonText;
}

/**
 * Throws `invalid_request` if the schema cannot be used, and `overloaded` if no time is left for the change.
 */
export async function refuseUnusableSchema(
  { store, propertyValidator }: CompileContext,
  caller: Caller,
  { schema }: PropertySchema,
): Promise<void> {
  try {
    await store.inTime(propertyValidator.compile(caller.workspaceId, schema), () => OVERLOADED);
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    throw invalidField(`/schema${error.pointer}`, error.message);
  }
}
