// What is measured: the requests of each operation, and what they are to reach.

export interface Operation {
  name: string;
  method: 'GET' | 'PUT' | 'POST';
  /** A template, as the body. */
  path: string;
  /**
   * A template; empty where there is no body. `{group}` becomes the number of a group that is there, drawn at random; `{token}` the token of
   * one, drawn at random; `{current_token}` a token that no rotation has replaced yet; `{new}` a number greater
   * than that of the request before; `{random}` 16 digits that no other request has.
   */
  body: string;
  /** The least share of the requests per second of the bare server; absent where none is set. */
  target?: number;
}

/** The calls that the service adds may be slower than those of the specification, by so much. */
const V1_SHARE = 0.9;

export const operations: readonly Operation[] = [
  {
    name: 'get',
    method: 'GET',
    path: '/api/user',
    body: '{"name":"Customer {group}","user_group_id":"customer-{group}"}',
    target: 0.45,
  },
  {
    name: 'get-all-fields',
    method: 'GET',
    path: '/api/user',
    body: userGroup('{group}'),
    target: 0.45,
  },
  { name: 'resolve', method: 'POST', path: '/v1/resolve', body: '{"token":"{token}"}', target: 0.45 },
  {
    name: 'update',
    method: 'PUT',
    path: '/api/user',
    body: '{"user_group_id":"customer-{group}","properties":{"plan":"gold","seats":{new}}}',
  },
  { name: 'rotate', method: 'POST', path: '/api/user', body: '{"current_token":"{current_token}"}' },
  { name: 'create', method: 'GET', path: '/api/user', body: userGroup('new-{new}'), target: 0.25 },
  {
    name: 'create-random-id',
    method: 'GET',
    path: '/api/user',
    body: userGroup('{random}'),
    target: 0.25,
  },
  {
    name: 'v1-read',
    method: 'GET',
    path: '/v1/user-groups/customer-{group}',
    body: '',
    target: V1_SHARE * 0.45,
  },
  {
    name: 'v1-get',
    method: 'POST',
    path: '/v1/user-groups',
    body: '{"name":"Customer {group}","user_group_id":"customer-{group}"}',
    target: V1_SHARE * 0.45,
  },
  {
    name: 'v1-create',
    method: 'POST',
    path: '/v1/user-groups',
    body: userGroup('v1-{new}'),
    target: V1_SHARE * 0.25,
  },
];

/** How many times the creates with a transaction each the durable creates are to reach. */
export const TRANSACTION_EACH_TARGET = 8;

export function operationOf(name: string): Operation {
  return operations.find((operation) => operation.name === name)!;
}

/** The body that makes a group; the seeded ones are made with it too. */
export function userGroup(number: string): string {
  return (
    `{"name":"Customer ${number}","user_group_id":"customer-${number}",` +
    `"mapping":{"40":"source-${number}"},"properties":{"plan":"gold","region":"eu-west","seats":25}}`
  );
}
