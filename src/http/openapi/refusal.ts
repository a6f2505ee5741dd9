// The answers that are no success, as the description shows them: an example of each code, in the words that the
// endpoint itself uses, since they are made by what refuses.

import type { Caller, Permission } from '../../domain/api-token.ts';
import { permit } from '../../operations/context.ts';
import { Problem, type ProblemCode, problems } from '../../problem.ts';
import { requireBody } from '../body.ts';
import { checkMediaType } from '../media-type.ts';
import { JSON_ONLY } from '../operation.ts';
import { problemBody } from '../problem.ts';
import { type Endpoint, insufficientPermission, problemCodesOf } from './endpoint.ts';
import { REQUEST_ID } from './example.ts';
import { type AnswerHeader, headerReferences } from './header.ts';
import type { Example, Referable, ResponseObject } from './object.ts';
import { caught, problemDescriptions } from './problem.ts';

type Examples = Partial<Record<ProblemCode, Problem>>;

const TEXT = { headers: { 'content-type': 'text/plain' } };
const SHARED = '#/components/responses/';
const OR = '-or-';

const headersOfStatus: Readonly<Record<number, readonly AnswerHeader[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

/** The responses of OpenAPI for all that is no success, by status. `allowed`: the methods that the path takes. */
export function refusalsOf(endpoint: Endpoint, allowed: readonly string[]): Record<string, Referable> {
  const own = examplesOf(endpoint, allowed);
  const codesOfStatus = Map.groupBy(problemCodesOf(endpoint), (code) => problems[code].status);
  const refusals = Array.from(codesOfStatus, ([status, codes]) => {
    const isShared = codes.every((code) => own[code] === undefined);
    return [status, isShared ? { $ref: SHARED + codes.join(OR) } : refusal(codes, own)];
  });
  return Object.fromEntries(refusals);
}

/** The responses that read the same at every endpoint that refers to them, by their names. */
export function sharedRefusals(paths: object): Record<string, ResponseObject> {
  const references = JSON.stringify(paths).matchAll(new RegExp(`"${SHARED}([^"]+)"`, 'g'));
  const names = new Set(Array.from(references, ([, name]) => name!));
  return Object.fromEntries(
    Array.from(names, (name) => [name, refusal(name.split(OR) as ProblemCode[], {})]),
  );
}

function refusal(codes: readonly ProblemCode[], own: Examples): ResponseObject {
  const examples = codes.map((code) => [code, exampleOf(own[code] ?? problemDescriptions[code].example)]);
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join('\n\n'),
    headers: headerReferences(headersOfStatus[problems[codes[0]!].status]),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

/** The problem as it is on the wire. */
export function exampleOf(problem: Problem): Example {
  return { summary: problems[problem.code].title, value: JSON.parse(problemBody(problem, REQUEST_ID)) };
}

/** The examples that are of this endpoint alone. */
function examplesOf(endpoint: Endpoint, allowed: readonly string[]): Examples {
  const named = Object.entries(endpoint.description.problems ?? {}) as [ProblemCode, string][];
  return {
    invalid_request: new Problem('invalid_request', 'The header origin must not stand twice.'),
    method_not_allowed: new Problem('method_not_allowed', `This path takes ${allowed.join(', ')}.`),
    ...permissionExample(endpoint),
    ...queryExample(endpoint),
    ...bodyExamples(endpoint),
    ...Object.fromEntries(named.map(([code, detail]) => [code, new Problem(code, detail)])),
  };
}

function permissionExample({ operation }: Endpoint): Examples {
  const permission = operation && insufficientPermission(operation);
  if (!permission) return {};
  const { permissions, purpose } = operation;
  return { permission_denied: caught(() => permit(callerWith(permission), permissions, purpose)) };
}

function callerWith(permission: Permission): Caller {
  return { apiTokenId: 1, workspaceId: 1, environment: 'Customer', permission };
}

function queryExample({ operation }: Endpoint): Examples {
  return operation === null ? {} : { invalid_request: caught(() => operation.query.read('/?limit=0')) };
}

/** What the operation says of bodies that are almost its example. */
function bodyExamples({ operation, description, method }: Endpoint): Examples {
  const sample = Object.values(description.requests ?? {})[0]?.value as object | undefined;
  if (operation === null || sample === undefined) return {};
  const refused = (text: string) => caught(() => operation.body.read(Buffer.from(text)));
  const [[name, value]] = Object.entries(sample) as [[string, unknown]];
  const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
  return {
    invalid_json: refused(`{${member},${member}}`),
    invalid_request: refused(JSON.stringify({ ...sample, [name]: 7 })),
    unknown_field: refused(JSON.stringify({ ...sample, [name.slice(0, -1)]: value })),
    body_missing: caught(() => requireBody(Buffer.alloc(0), method)),
    unsupported_media_type: caught(() => checkMediaType(TEXT, operation.mediaTypes ?? JSON_ONLY)),
  };
}
