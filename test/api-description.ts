// Holds answers to the description of the API: the status, every header, and the body with no field more.

import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type {
  Example,
  HeaderObject,
  OpenApi,
  OperationObject,
  ResponseObject,
} from '../src/http/openapi/object.ts';
import { type ProblemCode, problems } from '../src/problem.ts';
import type { TestAnswer } from './http.ts';

/** Headers of the connection, and of any message. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

/** An operation, and where it is. */
export interface DescribedOperation extends OperationObject {
  method: string;
  path: string;
}

export class ApiDescription {
  readonly operations: readonly DescribedOperation[];
  readonly #components: OpenApi['components'];
  readonly #ajv = new Ajv2020({
    strict: false,
    formats: {
      'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      'uri-reference': (text: string) => URL.canParse(text, 'http://service'),
    },
  });

  constructor({ paths, components }: OpenApi) {
    this.#components = components;
    this.#ajv.addSchema({ schemas: closed(components.schemas) }, 'api');
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    );
  }

  operation(operationId: string): DescribedOperation {
    const operation = this.operations.find((each) => each.operationId === operationId);
    assert.ok(operation, `${operationId} is not described`);
    return operation;
  }

  response(operation: OperationObject, status: number): ResponseObject {
    const response = operation.responses[status];
    assert.ok(response, `${operation.operationId} is not said to answer ${status}`);
    return '$ref' in response ? this.#components.responses[nameOf(response)]! : response;
  }

  statuses({ responses }: OperationObject): { successes: number[]; refusals: number[] } {
    const statuses = Object.keys(responses).map(Number);
    return {
      successes: statuses.filter((status) => status < 400),
      refusals: statuses.filter((status) => status >= 400),
    };
  }

  /** The codes that the operation is said to answer. */
  refusals(operation: OperationObject): ProblemCode[] {
    return this.statuses(operation).refusals.flatMap(
      (status) => Object.keys(examplesOf(this.response(operation, status))) as ProblemCode[],
    );
  }

  /** The example of a code at an operation. */
  refusal(operation: OperationObject, code: ProblemCode): Record<string, unknown> {
    const examples = examplesOf(this.response(operation, problems[code].status));
    return examples[code]!.value as Record<string, unknown>;
  }

  /** Fails where the answer is not one that the operation is said to give. */
  assertDescribed(operation: OperationObject, answer: TestAnswer): void {
    const response = this.response(operation, answer.status);
    this.#assertHeaders(response, answer);
    const type = answer.headers['content-type']?.split(';')[0];
    assert.equal(type, Object.keys(response.content ?? {})[0]);
    if (type === undefined) assert.equal(answer.text, '');
    else this.assertValid(nameOf(response.content![type]!.schema), answer.json ?? answer.text);
    if (answer.status >= 400) assert.ok(this.refusals(operation).includes(answer.json.code), answer.text);
  }

  /** Fails where the value is not of the schema, or has a field that the schema does not tell. */
  assertValid(schema: string, value: unknown): void {
    const validate = this.#ajv.getSchema(`api#/schemas/${schema}`) as ValidateFunction;
    assert.ok(validate(value), `${schema}: ${this.#ajv.errorsText(validate.errors)}`);
  }

  #assertHeaders({ headers }: ResponseObject, answer: TestAnswer): void {
    const described = new Map(
      Object.entries(headers).map(([name, reference]) => [name.toLowerCase(), this.#header(reference)]),
    );
    for (const [name, value] of Object.entries(answer.headers)) {
      if (TRANSPORT.includes(name)) continue;
      const header = described.get(name);
      assert.ok(header, `the header ${name} is not described`);
      const text = header.schema.type === 'integer' ? Number(value) : value;
      assert.ok(this.#ajv.validate(header.schema, text), `${name}: ${value}`);
    }
    for (const [name, { required }] of described)
      assert.ok(!required || name in answer.headers, `no ${name}`);
  }

  #header(reference: { $ref: string }): HeaderObject {
    return this.#components.headers[nameOf(reference)]!;
  }
}

type WithContent = Pick<ResponseObject, 'content'>;

export function examplesOf({ content = {} }: WithContent = {}): Readonly<Record<string, Example>> {
  return Object.values(content)[0]?.examples ?? {};
}

export function nameOf({ $ref }: { $ref: string }): string {
  return $ref.split('/').at(-1)!;
}

/** The same with every object closed, so that a field that is answered and not described is found out. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  const isOpen = copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
