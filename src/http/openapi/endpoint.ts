// A method of a path with all that is known of it: what the description says, and the operation where it is one.

import { type Permission, permissions } from '../../domain/api-token.ts';
import { type ProblemCode, problems } from '../../problem.ts';
import type { AnyOperation } from '../operation.ts';
import { type OperationDescription, operationDescriptions } from './operations.ts';
import { problemDescriptions } from './problem.ts';
import { serviceDescriptions } from './service.ts';

export interface Endpoint {
  operationId: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  description: OperationDescription;
  /** null where no API token is needed. */
  operation: AnyOperation | null;
}

export function endpointsOf(operations: readonly AnyOperation[]): Endpoint[] {
  const calls = operations.map((operation) => ({
    operationId: operation.operationId,
    method: String(operation.method),
    // The others are the same with a slash at the end.
    path: operation.paths[0]!.replace(/:(\w+)/g, '{$1}'),
    description: operationDescriptions[operation.operationId],
    operation,
  }));
  const others = Object.entries(serviceDescriptions).map(([path, { operationId, ...description }]) => ({
    operationId,
    method: 'GET',
    path,
    description,
    operation: null,
  }));
  return [...calls, ...others];
}

/** The codes that the endpoint can answer, in the order of the table of codes. */
export function problemCodesOf(endpoint: Endpoint): ProblemCode[] {
  const named = Object.keys(endpoint.description.problems ?? {});
  return (Object.keys(problems) as ProblemCode[]).filter(
    (code) => named.includes(code) || canOccur[problemDescriptions[code].occurrence](endpoint),
  );
}

const canOccur = {
  'every request': () => true,
  'API token': ({ operation }: Endpoint) => operation !== null,
  permission: ({ operation }: Endpoint) =>
    operation !== null && insufficientPermission(operation) !== undefined,
  body: ({ operation }: Endpoint) => operation !== null && operation.body.schema !== null,
  'path parameter': ({ path }: Endpoint) => path.includes('{'),
  named: () => false,
};

/** A permission that does not suffice for the operation; undefined where each does. */
export function insufficientPermission(operation: AnyOperation): Permission | undefined {
  return permissions.find((permission) => !operation.permissions.includes(permission));
}
