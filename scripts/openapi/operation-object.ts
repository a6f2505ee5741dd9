// Converts operations to OpenAPI objects.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { ResponseDescription } from '../../src/http/description.ts';
import type { AnyEndpoint } from '../../src/http/endpoint.ts';
import { pathParameters } from '../../src/http/request/path-parameter.ts';
import { VIEWER_TOKEN_COOKIE, VIEWER_TOKEN_HEADER } from '../../src/http/request/viewer-token.ts';
import type { Schema } from '../../src/http/schema.ts';
import type { authentications } from './about.ts';
import { schemaObject, withFormat } from './component-schemas.ts';
import { errorReferences, headerReferences, RATE_LIMIT_HEADERS } from './error-responses.ts';
import type { Operation } from './operation.ts';

type Parameter = OpenAPIV3_1.ParameterObject;

const EXAMPLE_ETAG = '"1042-3"';

const preconditionParameters: readonly Parameter[] = [
  {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'One or more `ETag`s, one of which must be the current one; `*` matches any.',
    schema: { type: 'string' },
    example: EXAMPLE_ETAG,
  },
  {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'One or more `ETag`s, none of which may be the current one; `*`: nothing may exist yet.',
    schema: { type: 'string' },
    example: EXAMPLE_ETAG,
  },
];

const viewerTokenParameters: readonly Parameter[] = [
  {
    name: VIEWER_TOKEN_HEADER,
    in: 'header',
    required: false,
    description: 'The token of the viewer, alone or after `Bearer `.',
    schema: { type: 'string' },
  },
  {
    name: VIEWER_TOKEN_COOKIE,
    in: 'cookie',
    required: false,
    description: 'The token of the viewer, if the header is absent or empty.',
    schema: { type: 'string' },
  },
];

export function pathItem(operations: readonly Operation[]): OpenAPIV3_1.PathItemObject {
  return Object.fromEntries(
    operations.map((operation) => [operation.method.toLowerCase(), operationObject(operation)]),
  );
}

function operationObject(operation: Operation): OpenAPIV3_1.OperationObject {
  const { operationId, description, endpoint } = operation;
  const parameters = operationParameters(operation);
  const responses = Object.entries(description.responses).map(([status, each]) => [
    status,
    responseObject(each, operation),
  ]);
  return {
    operationId,
    tags: [description.tag],
    summary: description.summary,
    description: endpoint === null ? description.text : description.text + permissionsText(endpoint),
    security: securityRequirements(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...requestBody(operation),
    responses: { ...Object.fromEntries(responses), ...errorReferences(operation) },
  };
}

function securityRequirements(endpoint: AnyEndpoint | null): OpenAPIV3_1.SecurityRequirementObject[] {
  if (endpoint === null) return [];
  return acceptedAuthentications(endpoint).map((name) => ({ [name]: [] }));
}

function acceptedAuthentications({ protocol }: AnyEndpoint): readonly (keyof typeof authentications)[] {
  return protocol === 'oauth' ? ['token', 'bearer', 'basic'] : ['token', 'bearer'];
}

function permissionsText({ permissions }: AnyEndpoint): string {
  return `\n\nPermission of the API token: ${['admin', ...permissions.filter((each) => each !== 'admin')].map((each) => `\`${each}\``).join(', ')}.`;
}

function operationParameters({ path, endpoint }: Operation): Parameter[] {
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => pathParameter(name!));
  const inQuery = Object.entries(endpoint?.query.parameters ?? {}).map(([name, schema]) =>
    queryParameter(name, schema),
  );
  return [
    ...inPath,
    ...inQuery,
    ...(endpoint?.isConditional ? preconditionParameters : []),
    ...(endpoint?.protocol === 'forward-auth' ? viewerTokenParameters : []),
  ];
}

function pathParameter(name: string): Parameter {
  const { description, schema, example } = pathParameters[name as keyof typeof pathParameters];
  // The schema of every id is that of a user group: generators would show its description.
  const { description: _, ...undescribed }: Schema = schema;
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: schemaObject(withFormat(undescribed)),
    example,
  };
}

function queryParameter(name: string, { description, ...schema }: Schema): Parameter {
  return {
    name,
    in: 'query',
    required: false,
    description: String(description),
    schema: schemaObject(withFormat(schema)),
    // Separates elements by commas.
    ...(schema.type === 'array' && { style: 'form', explode: false }),
  };
}

function requestBody({
  body,
  endpoint,
  description,
}: Operation): Pick<OpenAPIV3_1.OperationObject, 'requestBody'> {
  if (body === undefined || endpoint === null) return {};
  const content = {
    schema: { $ref: `#/components/schemas/${body.title}` },
    examples: description.requests ?? {},
  };
  return {
    requestBody: {
      required: endpoint.body.isRequired,
      content: Object.fromEntries(endpoint.mediaTypes.map((type) => [type, content])),
    },
  };
}

function responseObject(
  { description, headers = [], schema, mediaType = 'application/json', examples }: ResponseDescription,
  { endpoint, description: { problems } }: Operation,
): OpenAPIV3_1.ResponseObject {
  const violations = problems?.includes('mapping_invalid') ? (['User-Group-Violations'] as const) : [];
  const content = schema && {
    schema: { $ref: `#/components/schemas/${schema.title}` },
    ...(examples && { examples }),
  };
  return {
    description,
    headers: headerReferences(
      endpoint === null ? headers : [...headers, ...violations, ...RATE_LIMIT_HEADERS],
    ),
    ...(content && { content: { [mediaType]: content } }),
  };
}
