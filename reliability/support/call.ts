// Calls that a load generator sends, with bodies as customers send them.

import { requestBytes } from './connection.ts';

export interface CallTarget {
  apiToken: string;
  /** The prefix of the ids of created groups. */
  prefix: string;
  /** Existing groups, for calls that need one. */
  groups?: readonly KnownGroup[];
  /** Cookie of a session, for pages of the console. */
  cookie?: string;
}

export interface KnownGroup {
  id: string;
  /** Token that stays valid: no call of the load rotates it. */
  token: string;
  /** Id of another group, whose token is rotated. */
  rotatedId: string;
}

/** Builds the call with this number. No group has the id `newId`. */
type BuildCall = (target: CallTarget, newId: string, index: number) => Uint8Array;

/** Size of a body that the service does not read before it authenticates. */
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
  list: (target) => apiCall(target, 'GET', '/v1/user-groups?limit=20'),
  events: (target) => apiCall(target, 'GET', '/v1/events?limit=20'),
  health: () => requestBytes({ method: 'GET', path: '/healthz' }),
  page: (target, _newId, index) => {
    const path = `/console/user-groups/${groupAt(target, index).id}`;
    return requestBytes({ method: 'GET', path, headers: [`Cookie: ${target.cookie}`] });
  },
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
