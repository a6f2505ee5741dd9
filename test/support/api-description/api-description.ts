// Validates responses against the API description: the status, every header, and the body without additional fields.

import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { OpenAPIV3_1 } from 'openapi-types';
import { problems } from '../../../src/http/response/problem.ts';
import type { Schema } from '../../../src/http/schema.ts';
import type { ProblemCode } from '../../../src/problem.ts';
import type { TestResponse } from '../http.ts';

/** Headers of the connection and of every message. */
const TRANSPORT = ['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'];

interface Content {
  schema: { $ref: string };
  examples?: Record<string, OpenAPIV3_1.ExampleObject>;
}

interface WithContent {
  /** Whether a request must have this body. */
  required?: boolean;
  content?: Record<string, Content>;
}

interface Header extends Omit<OpenAPIV3_1.HeaderObject, 'schema'> {
  schema: Schema;
}

interface Response extends WithContent {
  headers: Record<string, { $ref: string }>;
}

export interface Parameter extends Omit<OpenAPIV3_1.ParameterObject, 'schema'> {
  in: 'path' | 'query' | 'header';
  schema: Schema;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security: object[];
  parameters?: Parameter[];
  requestBody?: WithContent;
  responses: Record<string, Response | { $ref: string }>;
}

/** The subset of OpenAPI that this service's document uses. */
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, Header>;
    responses: Record<string, Response>;
    examples: Record<string, OpenAPIV3_1.ExampleObject>;
  };
}

/** Operation with its method and path. */
export interface DescribedOperation extends Operation {
  method: string;
  path: string;
}

export class ApiDescription {
  readonly operations: readonly DescribedOperation[];
  readonly #components: Document['components'];
  readonly #ajv = new Ajv2020({
    strict: false,
    formats: {
      'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
      'uri-reference': (text: string) => URL.canParse(text, 'http://service'),
      int64: true,
    },
  });

  constructor(document: OpenAPIV3_1.Document) {
    const { paths, components } = withInlineExamples(document);
    this.#components = components;
    this.#ajv.addSchema({ components: { schemas: closed(components.schemas) } }, 'api');
    this.operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        method: method.toUpperCase(),
        path,
      })),
    );
  }

  get schemas(): Readonly<Record<string, Schema>> {
    return this.#components.schemas;
  }

  operation(operationId: string): DescribedOperation {
    const operation = this.operations.find((each) => each.operationId === operationId);
    assert.ok(operation, `${operationId} is not described`);
    return operation;
  }

  response(operation: DescribedOperation, status: number): Response {
    const response = operation.responses[status];
    assert.ok(response, `${operation.operationId} does not describe status ${status}`);
    return '$ref' in response ? this.#components.responses[nameOf(response)]! : response;
  }

  statuses({ responses }: DescribedOperation): { successes: number[]; errors: number[] } {
    const statuses = Object.keys(responses).map(Number);
    return {
      successes: statuses.filter((status) => status < 400),
      errors: statuses.filter((status) => status >= 400),
    };
  }

  /** Returns the error codes described for the operation. */
  errorCodes(operation: DescribedOperation): ProblemCode[] {
    return this.statuses(operation).errors.flatMap(
      (status) => Object.keys(examplesOf(this.response(operation, status))) as ProblemCode[],
    );
  }

  /** Returns the example of an error code for an operation. */
  errorExample(operation: DescribedOperation, code: ProblemCode): Record<string, unknown> {
    const examples = examplesOf(this.response(operation, problems[code].status));
    return examples[code]!.value as Record<string, unknown>;
  }

  /** Fails if the response is not described for the operation. */
  assertDescribed(operation: DescribedOperation, answer: TestResponse): void {
    const response = this.response(operation, answer.status);
    this.#assertHeaders(response, answer);
    const type = answer.headers['content-type']?.split(';')[0];
    assert.equal(type, Object.keys(response.content ?? {})[0]);
    if (type === undefined) assert.equal(answer.text, '');
    else this.assertValid(nameOf(response.content![type]!.schema), answer.json ?? answer.text);
    if (answer.status >= 400) assert.ok(this.errorCodes(operation).includes(answer.json.code), answer.text);
  }

  /** Fails if the value violates the schema, or has a field that the schema does not define. */
  assertValid(schema: string, value: unknown): void {
    const validate = this.#ajv.getSchema(`api#/components/schemas/${schema}`) as ValidateFunction;
    assert.ok(validate(value), `${schema}: ${this.#ajv.errorsText(validate.errors)}`);
  }

  #assertHeaders({ headers }: Response, answer: TestResponse): void {
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

  #header(reference: { $ref: string }): Header {
    return this.#components.headers[nameOf(reference)]!;
  }
}

/** Returns the document with references to shared examples replaced by the examples. */
function withInlineExamples(document: OpenAPIV3_1.Document): Document {
  const prefix = '#/components/examples/';
  return JSON.parse(JSON.stringify(document), (_key, value) =>
    value?.$ref?.startsWith?.(prefix)
      ? document.components!.examples![value.$ref.slice(prefix.length)]
      : value,
  );
}

export function examplesOf({
  content = {},
}: WithContent = {}): Readonly<Record<string, OpenAPIV3_1.ExampleObject>> {
  return Object.values(content)[0]?.examples ?? {};
}

export function nameOf({ $ref }: { $ref: string }): string {
  return $ref.split('/').at(-1)!;
}

/** Returns the same schema with every object closed, so that undescribed response fields fail validation. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  const isOpen = copy.type === 'object' && 'properties' in copy && !('additionalProperties' in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
