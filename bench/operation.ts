// Operations to measure, with their requests and targets.

export interface Operation {
  name: string;
  method: 'GET' | 'PUT' | 'PATCH' | 'POST';
  /** Template, as for the body. */
  path: string;
  /**
   * Template; empty for a request without a body. `{group}` is replaced by the number of a random existing group;
   * `{token}` by the token of a random group; `{current_token}` by a token that no rotation has replaced yet;
   * `{new}` by a number greater than that of the previous request; `{random}` by 16 digits unique to the
   * request.
   */
  body: string;
  /** Media type of the body; application/json if absent. */
  mediaType?: string;
  /** Template of another header: `Name: value`. */
  header?: string;
  /** Minimum ratio to the requests per second of the bare server; absent if there is none. */
  target?: number;
}

/** Minimum share of the throughput of resolve that the other calls which identify a viewer must reach. */
const VERIFICATION_SHARE = 0.9;
/** Minimum share of the targets of the original calls that the calls under /v1 must reach. */
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
    name: 'introspect',
    method: 'POST',
    path: '/oauth/introspect',
    body: 'token={token}',
    mediaType: 'application/x-www-form-urlencoded',
    target: VERIFICATION_SHARE * 0.45,
  },
  {
    name: 'forward-auth',
    method: 'GET',
    path: '/v1/forward-auth',
    body: '',
    header: 'X-User-Group-Token: {token}',
    target: VERIFICATION_SHARE * 0.45,
  },
  {
    name: 'update',
    method: 'PUT',
    path: '/api/user',
    body: '{"user_group_id":"customer-{group}","properties":{"plan":"gold","seats":{new}}}',
  },
  {
    name: 'patch',
    method: 'PATCH',
    path: '/v1/user-groups/customer-{group}',
    body: '{"properties":{"seats":{new}}}',
    mediaType: 'application/merge-patch+json',
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

export function operationOf(name: string): Operation {
  return operations.find((operation) => operation.name === name)!;
}

/** Returns the body that creates a group; also used for the seeded groups. */
export function userGroup(number: string): string {
  return (
    `{"name":"Customer ${number}","user_group_id":"customer-${number}",` +
    `"mapping":{"40":"source-${number}"},"properties":{"plan":"gold","region":"eu-west","seats":25}}`
  );
}
