import type { Caller } from '../../domain/api-token.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type PolicyMode, SINGLETON_ID } from '../../domain/policy-mode.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { propertySchemaDefinition } from '../../domain/property-schema.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, putDocument, type StoredDocument } from '../document/document.ts';
import { PropertySchemaInvalid } from './validator/validator.ts';

/** Throws `invalid_request` if the schema cannot be used. */
export async function putPropertySchema(
  context: DocumentContext & Pick<Context, 'propertyValidator'>,
  caller: Caller,
  { schema, mode }: { schema: JsonText; mode: PolicyMode },
  precondition: Precondition | undefined,
): Promise<StoredDocument> {
  try {
    await context.propertyValidator.compile(caller.workspaceId, schema);
  } catch (error) {
    if (!(error instanceof PropertySchemaInvalid)) throw error;
    throw invalidField(`/schema${error.pointer}`, error.message);
  }
  const body = `{"schema":${schema},"mode":${JSON.stringify(mode)}}` as JsonText;
  return putDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, { body }, precondition);
}
