// The description of the API: OpenAPI 3.1, made of the table of operations and of the schemas that validate.

import { readFileSync } from 'node:fs';
import { resolveBody, rotateBody, userGroupBody, userGroupPatch } from '../../domain/body.ts';
import { userGroupId } from '../../domain/field.ts';
import { type AnyOperation, JSON_ONLY } from '../operation.ts';
import { about, authentication } from './about.ts';
import { type Endpoint, endpointsOf } from './endpoint.ts';
import { ETAG } from './example.ts';
import { answerHeaders, headerReferences } from './header.ts';
import type { OpenApi, OperationObject, Parameter, ResponseObject } from './object.ts';
import { type AnswerDescription, tags } from './operations.ts';
import { refusalsOf, sharedRefusals } from './refusal.ts';
import { answerSchemas, type Schema } from './schema.ts';

const requestSchemas: Record<string, Schema | null> = {
  UserGroupRequest: userGroupBody.schema,
  UserGroupPatch: userGroupPatch.schema,
  TokenRotation: rotateBody.schema,
  TokenResolution: resolveBody.schema,
};

const pathParameters: Record<string, Parameter> = {
  user_group_id: {
    name: 'user_group_id',
    in: 'path',
    required: true,
    description: `${userGroupId.description} Percent-encoded: \`a/b\` is \`a%2Fb\`.`,
    schema: userGroupId,
    example: 'acme-7',
  },
};

const ifMatch: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` that the user group must still have, or several of them; `*` for any.',
  schema: { type: 'string' },
  example: ETAG,
};

export function openApi(operations: readonly AnyOperation[]): OpenApi {
  const paths = pathsOf(endpointsOf(operations));
  return {
    openapi: '3.1.1',
    info: {
      title: 'User Group Service',
      version: packageVersion(),
      summary: 'Issues a token per customer and tells your dashboards who is viewing.',
      description: about,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'The service that this document comes from.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...requestSchemas, ...answerSchemas },
      headers: answerHeaders,
      responses: sharedRefusals(paths),
      securitySchemes: { apiToken: authentication },
    },
  };
}

function packageVersion(): string {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return JSON.parse(text).version;
}

function pathsOf(endpoints: readonly Endpoint[]): OpenApi['paths'] {
  const byPath = Map.groupBy(endpoints, ({ path }) => path);
  const paths = Array.from(byPath, ([path, ofPath]) => {
    const allowed = ofPath.flatMap(({ method, operation }) =>
      operation === null ? [method, 'HEAD'] : [method],
    );
    const objects = ofPath.map((endpoint) => [
      endpoint.method.toLowerCase(),
      operationObject(endpoint, allowed),
    ]);
    return [path, Object.fromEntries(objects)];
  });
  return Object.fromEntries(paths);
}

function operationObject(endpoint: Endpoint, allowed: readonly string[]): OperationObject {
  const { operationId, description, operation } = endpoint;
  const parameters = parametersOf(endpoint);
  const answers = Object.entries(description.answers).map(([status, answer]) => [status, response(answer)]);
  return {
    operationId,
    tags: [description.tag],
    summary: description.summary,
    description:
      operation === null ? description.description : withPermissions(description.description, operation),
    security: operation === null ? [] : [{ apiToken: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(endpoint),
    responses: { ...Object.fromEntries(answers), ...refusalsOf(endpoint, allowed) },
  };
}

function withPermissions(description: string, { permissions }: AnyOperation): string {
  return `${description}\n\nPermission of the API token: ${permissions.map((each) => `\`${each}\``).join(', ')}.`;
}

function parametersOf({ path, operation, description }: Endpoint): Parameter[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => pathParameters[name!]!);
  const inQuery = Object.entries(operation?.query.parameters ?? {}).map(([name, schema]) =>
    queryParameter(name, schema),
  );
  return [...inPath, ...inQuery, ...('version_mismatch' in (description.problems ?? {}) ? [ifMatch] : [])];
}

function queryParameter(name: string, { description, ...schema }: Schema): Parameter {
  return { name, in: 'query', required: false, description: String(description), schema };
}

function requestBody({ operation, description }: Endpoint): Pick<OperationObject, 'requestBody'> {
  const schema = operation?.body.schema;
  if (!schema) return {};
  const [name] = Object.entries(requestSchemas).find(([, candidate]) => candidate === schema)!;
  const content = { schema: { $ref: `#/components/schemas/${name}` }, examples: description.requests ?? {} };
  const mediaTypes = operation.mediaTypes ?? JSON_ONLY;
  return {
    requestBody: { required: true, content: Object.fromEntries(mediaTypes.map((type) => [type, content])) },
  };
}

function response({ description, headers, schema, mediaType, examples }: AnswerDescription): ResponseObject {
  const content = { schema: { $ref: `#/components/schemas/${schema}` }, ...(examples && { examples }) };
  return {
    description,
    headers: headerReferences(headers),
    ...(schema !== undefined && { content: { [mediaType ?? 'application/json']: content } }),
  };
}
