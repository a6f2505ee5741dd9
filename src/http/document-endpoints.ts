// The endpoints of a kind of document: PUT, GET and DELETE of one, and a list. A kind defines its fields and texts.

import type { Permission } from '../domain/api-token.ts';
import { type Document, type DocumentDefinition, documentFields, documentTotal } from '../domain/document.ts';
import * as field from '../domain/field.ts';
import { timestamp } from '../domain/instant.ts';
import type { BodyType } from '../domain/request-body.ts';
import { type DocumentOperations, listDocuments, readDocument } from '../operations/document/document.ts';
import { type EndpointDescription, type Example, lastPageExample, successExample } from './description.ts';
import { type AnyEndpoint, endpoint } from './endpoint.ts';
import { Json, jsonArray, jsonObject, raw, successBody } from './json.ts';
import { pathId, type pathParameters } from './request/path-parameter.ts';
import { noQuery, pageQuery, type QueryType, queryType } from './request/query.ts';
import { setDocumentTag } from './response/entity-tag.ts';
import { namedSchema, pageSchema, type Schema, successSchema, timestampSchema } from './schema.ts';

export interface DocumentKindApi<Body> extends DocumentOperations<Body> {
  definition: DocumentDefinition;
  /** Names the schemas and operations, such as `WebhookEndpoint`. */
  name: string;
  tag: EndpointDescription['tag'];
  /** The id of a document, as a parameter in paths and as a member of responses. */
  idParameter: keyof typeof pathParameters;
  /** Permissions to read; only `admin` may change. */
  readers: readonly Permission[];
  body: BodyType<Body>;
  /** The stored fields in responses. */
  fields: Readonly<Record<string, Schema>>;
  example: Readonly<Record<string, unknown>>;
  requests: Readonly<Record<string, Example>>;
  texts: Readonly<Record<'put' | 'read' | 'list' | 'remove', string>>;
  /** Descriptions of `force`; absent if user groups do not use documents of this kind. */
  force?: { put?: string; remove: string };
  /** The secret that the response to a create shows. */
  secret?: { schema: Schema; example: string };
}

/**
 * Returns a function that writes the stored fields of a document exactly, and the defaults of absent ones.
 */
function documentWriter<Body>({ idParameter, fields }: DocumentKindApi<Body>): (document: Document) => Json {
  const defaults = Object.entries(fields).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, new Json(JSON.stringify(value))] as const],
  );
  const absent = Object.fromEntries(defaults);
  return (document) => {
    const stored = Object.entries(documentFields(document)).map(([name, text]) => [name, raw(text)] as const);
    return jsonObject({
      [idParameter]: document.id,
      ...absent,
      ...Object.fromEntries(stored),
      version: document.version,
      created_at: timestamp(document.createdAt),
      updated_at: timestamp(document.updatedAt),
    });
  };
}

function documentSchema<Body>({ name, idParameter, definition, fields }: DocumentKindApi<Body>): Schema {
  return namedSchema(`${name}Document`, {
    [idParameter]: { ...field.userGroupId, description: `The id in the path of the ${definition.noun}.` },
    ...fields,
    version: { type: 'integer', minimum: 1, description: 'Starts at 1 and increases with every change.' },
    created_at: timestampSchema,
    updated_at: timestampSchema,
  });
}

/** Members that every example has. */
export const asCreated = {
  version: 1,
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-02T09:30:00.000Z',
};

/** Accepts the parameter `force`; without a description of its purpose, accepts none. */
function forceQuery(description: string | undefined): QueryType<boolean | null> {
  if (description === undefined) return noQuery;
  const force = { type: 'boolean', default: false, description } as const;
  return queryType({ parameters: { force }, convert: ({ force }) => force });
}

type DocumentApi<Body> = ReturnType<typeof documentApi<Body>>;

/** Returns the values that the endpoints of a kind share. */
function documentApi<Body>(kind: DocumentKindApi<Body>) {
  const { definition, name, idParameter } = kind;
  const member = definition.kind;
  const members = `${member}s`;
  const collection = `/v1/${members.replaceAll('_', '-')}`;
  const schema = documentSchema(kind);
  return {
    kind,
    member,
    members,
    collection,
    path: `${collection}/:${idParameter}`,
    schema,
    Stored: successSchema(`Stored${name}`, { [member]: schema }),
    write: documentWriter(kind),
  };
}

export function documentEndpoints<Body>(kind: DocumentKindApi<Body>) {
  const api = documentApi(kind);
  return {
    kind,
    schema: api.schema,
    write: api.write,
    all: [listEndpoint(api), putEndpoint(api), readEndpoint(api), removeEndpoint(api)],
  };
}

function putEndpoint<Body>({ kind, member, path, schema, Stored, write }: DocumentApi<Body>): AnyEndpoint {
  const { definition, name, tag, idParameter, secret } = kind;
  // One schema for both statuses: many generators decode every success with that of the first.
  const Result = secret
    ? successSchema(`${name}WithSecret`, { [member]: schema, secret: onlyIfCreated(secret.schema) }, [
        'secret',
      ])
    : Stored;
  const stored = { [member]: kind.example };
  return endpoint({
    operationId: `put${name}`,
    method: 'PUT',
    paths: [path],
    permissions: ['admin'],
    purpose: `change ${definition.noun}s`,
    query: forceQuery(kind.force?.put),
    body: kind.body,
    isConditional: true,
    handle: async ({ context, caller, query: force, body, precondition, request, reply }) => {
      const id = pathId(request, idParameter);
      const { created, document, secret } = await kind.put(
        context,
        caller,
        id,
        body,
        precondition,
        force === true,
      );
      if (created) reply.code(201);
      setDocumentTag(reply, document);
      return successBody({ [member]: write(document), secret: secret?.reveal() });
    },
    description: {
      tag,
      summary: `Create or replace a ${definition.noun}`,
      text: kind.texts.put,
      requests: kind.requests,
      responses: {
        200: {
          description: `The existing ${definition.noun}, with the sent fields.`,
          headers: ['ETag'],
          schema: Result,
          examples: successExample('replaced', 'Replaced', stored),
        },
        201: {
          description: `The ${definition.noun} that this call created.`,
          headers: ['ETag'],
          schema: Result,
          examples: successExample('created', 'Created', {
            ...stored,
            ...(secret && { secret: secret.example }),
          }),
        },
      },
      problems: kind.force?.put === undefined ? ['limit_reached'] : ['limit_reached', 'in_use'],
    },
  });
}

function onlyIfCreated(schema: Schema): Schema {
  return { ...schema, description: `Present only if the call created it. ${schema.description}` };
}

function readEndpoint<Body>({ kind, member, path, Stored, write }: DocumentApi<Body>): AnyEndpoint {
  const { definition, name, tag, idParameter } = kind;
  return endpoint({
    operationId: `read${name}`,
    method: 'GET',
    paths: [path],
    permissions: kind.readers,
    purpose: `read ${definition.noun}s`,
    handle: async ({ context, caller, request, reply }) => {
      const id = pathId(request, idParameter);
      const document = await readDocument(context, caller, definition, id);
      setDocumentTag(reply, document);
      return successBody({ [member]: write(document) });
    },
    description: {
      tag,
      summary: `Read a ${definition.noun}`,
      text: kind.texts.read,
      responses: {
        200: {
          description: `The ${definition.noun}.`,
          headers: ['ETag'],
          schema: Stored,
          examples: successExample('stored', `A ${definition.noun}`, { [member]: kind.example }),
        },
      },
    },
  });
}

function listEndpoint<Body>({ kind, members, collection, schema, write }: DocumentApi<Body>): AnyEndpoint {
  const { definition, name, tag } = kind;
  return endpoint({
    operationId: `list${name}s`,
    method: 'GET',
    paths: [collection],
    permissions: kind.readers,
    purpose: `list ${definition.noun}s`,
    access: 'list',
    query: pageQuery,
    handle: async ({ context, caller, query }) => {
      const { documents, nextCursor } = await listDocuments(context, caller, definition, query);
      await context.cpu.turn(documentTotal(documents).bytes);
      return successBody({ [members]: jsonArray(documents.map(write)), next_cursor: nextCursor });
    },
    description: {
      tag,
      summary: `List ${definition.noun}s`,
      text: kind.texts.list,
      responses: {
        200: {
          description: `A page of ${definition.noun}s, in the order of their ids.`,
          schema: pageSchema(`${name}Page`, members, schema),
          examples: lastPageExample(members, kind.example),
        },
      },
    },
  });
}

function removeEndpoint<Body>({ kind, path }: DocumentApi<Body>): AnyEndpoint {
  const { definition, name, tag, idParameter } = kind;
  return endpoint({
    query: forceQuery(kind.force?.remove),
    operationId: `delete${name}`,
    method: 'DELETE',
    paths: [path],
    permissions: ['admin'],
    purpose: `delete ${definition.noun}s`,
    isConditional: true,
    handle: async ({ context, caller, query: force, precondition, request }) => {
      const id = pathId(request, idParameter);
      await kind.remove(context, caller, id, precondition, force === true);
      return undefined;
    },
    description: {
      tag,
      summary: `Delete a ${definition.noun}`,
      text: kind.texts.remove,
      responses: { 204: { description: `The ${definition.noun} is deleted.` } },
      ...(kind.force !== undefined && { problems: ['in_use'] as const }),
    },
  });
}
