// Error responses in the API description. Each error code has one example, which every response that lists the code
// references.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { Protocol } from '../../src/http/protocol.ts';
import { oauthErrors, problemBody, problems } from '../../src/http/response/problem.ts';
import { namedSchema, type Schema } from '../../src/http/schema.ts';
import type { Problem, ProblemCode } from '../../src/problem.ts';
import { occurrences } from './occurrence.ts';
import { type Operation, possibleProblemCodes } from './operation.ts';
import { EXAMPLE_REQUEST_ID, type ResponseHeader } from './response-header.ts';

const SHARED = '#/components/responses/';
const OR = '-or-';
/** Prefix of the names of responses of OAuth endpoints. */
const OAUTH = 'oauth.';

const headersOfStatus: Readonly<Record<number, readonly ResponseHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** Headers of responses to requests with a valid API token. */
export const RATE_LIMIT_HEADERS: readonly ResponseHeader[] = ['RateLimit', 'RateLimit-Policy'];

export const problemSchema: Schema = {
  description: 'Every response that is not a success (RFC 9457).',
  ...namedSchema(
    'Problem',
    {
      success: { type: 'integer', const: 0 },
      type: {
        type: 'string',
        format: 'uri-reference',
        description: 'Where the code is documented: `/errors#CODE`.',
      },
      title: { type: 'string', description: 'Summary of the code; always the same.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'The HTTP status.' },
      detail: { type: 'string', description: 'What is wrong with this request, and what to do next.' },
      code: {
        type: 'string',
        enum: Object.keys(problems),
        description: 'For programs to act on. Codes are added, never renamed.',
      },
      request_id: {
        type: 'string',
        description: 'Identifies the request in the log; the same as `X-Request-Id`.',
      },
      errors: {
        type: 'array',
        items: namedSchema('Violation', {
          pointer: {
            type: 'string',
            description:
              'JSON Pointer (RFC 6901) into the body. Empty for the body itself. A name longer than 300 characters is ' +
              'truncated and ends with `… (cut off)`.',
          },
          detail: { type: 'string', description: 'What is wrong with it.' },
        }),
        description: 'The invalid fields of the body, at most 20; absent if there are none.',
      },
    },
    ['errors'],
  ),
};

/** Schema of the same problem with the member that OAuth clients read. */
export const oauthProblemSchema: Schema = {
  ...problemSchema,
  title: 'OAuthProblem',
  properties: {
    ...problemSchema.properties,
    error: { type: 'string', enum: Object.values(oauthErrors), description: 'RFC 6749, section 5.2.' },
  },
  required: [...problemSchema.required!, 'error'],
};

/** Returns references to the headers of every response and to the named ones. */
export function headerReferences(names: readonly ResponseHeader[]): Record<string, { $ref: string }> {
  const all: ResponseHeader[] = ['X-Request-Id', 'Cache-Control', ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Returns references to the error responses of the operation, by status. */
export function errorReferences(operation: Operation): Record<string, OpenAPIV3_1.ReferenceObject> {
  const codesOfStatus = Map.groupBy(possibleProblemCodes(operation), (code) => problems[code].status);
  const isOAuth = operation.endpoint?.protocol === 'oauth';
  const references = Array.from(codesOfStatus, ([status, codes]) => [
    status,
    { $ref: SHARED + (isOAuth && status in oauthErrors ? OAUTH : '') + codes.join(OR) },
  ]);
  return Object.fromEntries(references);
}

/** Returns the error responses that the paths reference, by name. */
export function errorResponses(paths: object): Record<string, OpenAPIV3_1.ResponseObject> {
  const references = JSON.stringify(paths).matchAll(new RegExp(`"${SHARED}([^"]+)"`, 'g'));
  const names = new Set(Array.from(references, ([, name]) => name!));
  return Object.fromEntries(
    Array.from(names, (name) => {
      const isOAuth = name.startsWith(OAUTH);
      const codes = (isOAuth ? name.slice(OAUTH.length) : name).split(OR) as ProblemCode[];
      return [
        name,
        isOAuth ? errorResponse(codes, oauthContent(codes)) : errorResponse(codes, content(codes)),
      ];
    }),
  );
}

type Content = NonNullable<OpenAPIV3_1.ResponseObject['content']>;

function content(codes: readonly ProblemCode[]): Content {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]);
  return {
    'application/problem+json': {
      schema: { $ref: `#/components/schemas/${problemSchema.title}` },
      examples: Object.fromEntries(examples),
    },
  };
}

function oauthContent(codes: readonly ProblemCode[]): Content {
  const examples = codes.map((code) => [code, problemExample(occurrences[code].example, 'oauth')]);
  return {
    'application/json': {
      schema: { $ref: `#/components/schemas/${oauthProblemSchema.title}` },
      examples: Object.fromEntries(examples),
    },
  };
}

function errorResponse(codes: readonly ProblemCode[], content: Content): OpenAPIV3_1.ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join('\n\n'),
    headers: headerReferences([
      ...(headersOfStatus[problems[codes[0]!].status] ?? []),
      ...RATE_LIMIT_HEADERS,
    ]),
    content,
  };
}

/** Returns each problem as it is sent, by code. */
export function problemExamples(): Record<string, OpenAPIV3_1.ExampleObject> {
  const examples = Object.entries(occurrences).map(([code, { example }]) => [code, problemExample(example)]);
  return Object.fromEntries(examples);
}

function problemExample(problem: Problem, protocol?: Protocol): OpenAPIV3_1.ExampleObject {
  const value = JSON.parse(problemBody(problem, EXAMPLE_REQUEST_ID, protocol));
  return { summary: problems[problem.code].title, value };
}
