// Calls of a load generator: what a customer sends, with the bodies that a customer has.

import { requestBytes } from './connection.ts';

export interface CallTarget {
  apiToken: string;
  /** The prefix of the ids of created groups. */
  prefix: string;
  /** For the calls on existing groups. */
  groups?: readonly KnownGroup[];
}

export interface KnownGroup {
  id: string;
  /** Stays valid: no call of the load rotates it. */
  token: string;
  /** The id of another group, whose token is rotated. */
  rotatedId: string;
}

/** Builds the call with this number; `newId` is not in use. */
type BuildCall = (target: CallTarget, newId: string, index: number) => Uint8Array;

/** Larger than what the service reads before it authenticates. */
const LARGE_BYTES = 20_000;
const LARGE = 'x'.repeat(LARGE_BYTES);

export const calls = {
  create: (target, newId) => apiCall(target, 'GET', '/api/user', `{"user_group_id":"${newId}","name":"Rig"}`),
  get: (target, _newId, index) =>
    apiCall(target, 'GET', '/api/user', `{"user_group_id":"${groupAt(target, index).id}"}`),
  read: (target, _newId, index) => apiCall(target, 'GET', `/v1/user-groups/${groupAt(target, index).id}`),
  resolve: (target, _newId, index) =>
    apiCall(target, 'POST', '/v1/resolve', `{"token":"${groupAt(target, index).token}"}`),
  update: (target, _newId, index) => apiCall(target, 'PUT', '/api/user', updateOf(target, index, index)),
  'large update': (target, _newId, index) =>
    apiCall(target, 'PUT', '/api/user', updateOf(target, index, `"${index}${LARGE}"`)),
  rotate: (target, _newId, index) =>
    apiCall(target, 'POST', `/v1/user-groups/${groupAt(target, index).rotatedId}/rotate`, '{}'),
} as const satisfies Record<string, BuildCall>;

export type CallName = keyof typeof calls;

function apiCall({ apiToken }: CallTarget, method: string, path: string, body = ''): Uint8Array {
  return requestBytes({ method, path, apiToken, body });
}

function groupAt({ groups = [] }: CallTarget, index: number): KnownGroup {
  return groups[index % groups.length]!;
}

function updateOf(target: CallTarget, index: number, value: string | number): string {
  const { id } = groupAt(target, index);
  return `{"user_group_id":"${id}","name":"Rig","properties":{"plan":"gold","value":${value}}}`;
}
