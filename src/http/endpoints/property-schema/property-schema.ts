import { SINGLETON_ID } from '../../../domain/document.ts';
import {
  type PropertySchema,
  parsePropertySchema,
  propertySchemaDefinition,
} from '../../../domain/property-schema/property-schema.ts';
import {
  propertySchemaBody,
  propertySchemaFields,
} from '../../../domain/property-schema/property-schema-body.ts';
import { deleteDocument, documentNotFound, findDocument } from '../../../operations/document/document.ts';
import { putPropertySchema as put } from '../../../operations/property-schema/put.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, raw, successBody } from '../../json.ts';
import { setDocumentTag } from '../../response/entity-tag.ts';
import { objectSchema, successSchema } from '../../schema.ts';

const stored = successSchema('StoredPropertySchema', { property_schema: objectSchema(propertySchemaFields) });
const exampleSchema = {
  type: 'object',
  properties: { plan: { enum: ['gold', 'platinum'] }, seats: { type: 'integer', minimum: 1 } },
  required: ['plan'],
};
const sent = { schema: exampleSchema, mode: 'report' };
const examples = successExample('stored', 'A property schema', { property_schema: sent });
const shared = { paths: ['/v1/property-schema'] } as const;

function json({ schema, mode }: PropertySchema): string {
  return successBody({ property_schema: jsonObject({ schema: raw(schema), mode }) });
}

export const readPropertySchema = endpoint({
  ...shared,
  operationId: 'readPropertySchema',
  method: 'GET',
  permissions: ['read-write', 'read-only'],
  purpose: 'read the property schema',
  handle: async ({ context, caller, reply }) => {
    const document = await findDocument(context, caller, propertySchemaDefinition);
    if (document === null) throw documentNotFound(propertySchemaDefinition);
    setDocumentTag(reply, document);
    return json(parsePropertySchema(document));
  },
  description: {
    tag: 'Catalogue',
    summary: 'Read the property schema',
    text: 'Returns the schema of properties and what happens to properties that violate it.',
    responses: { 200: { description: 'The property schema.', headers: ['ETag'], schema: stored, examples } },
    problems: ['not_found'],
  },
});

export const putPropertySchema = endpoint({
  ...shared,
  operationId: 'putPropertySchema',
  method: 'PUT',
  permissions: ['admin'],
  purpose: 'change the property schema',
  body: propertySchemaBody,
  isConditional: true,
  handle: async ({ context, caller, body: sentBody, precondition, reply }) => {
    const { created, document } = await put(context, caller, SINGLETON_ID, sentBody, precondition);
    if (created) reply.code(201);
    setDocumentTag(reply, document);
    return json(sentBody);
  },
  description: {
    tag: 'Catalogue',
    summary: 'Set the property schema',
    text:
      'Sets the schema of the properties of user groups. Stored properties are not changed: `user-group-service check` ' +
      'lists those that violate it. A schema that takes too long to compile, or to check examples that are derived from ' +
      'it, is rejected.',
    requests: { report: { summary: 'Report violations', value: sent } },
    responses: {
      200: { description: 'The replaced property schema.', headers: ['ETag'], schema: stored, examples },
      201: { description: 'The property schema.', headers: ['ETag'], schema: stored, examples },
    },
  },
});

export const removePropertySchema = endpoint({
  ...shared,
  operationId: 'deletePropertySchema',
  method: 'DELETE',
  permissions: ['admin'],
  purpose: 'delete the property schema',
  isConditional: true,
  handle: async ({ context, caller, precondition }) => {
    await deleteDocument(context, caller, propertySchemaDefinition, SINGLETON_ID, precondition);
    return undefined;
  },
  description: {
    tag: 'Catalogue',
    summary: 'Delete the property schema',
    text: 'Properties are not checked from then on.',
    responses: { 204: { description: 'The property schema is deleted.' } },
    problems: ['not_found'],
  },
});
