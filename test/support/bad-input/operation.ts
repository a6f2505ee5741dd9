// Describes the operations as data, to combine tables of bad values with all of them.

import type { TestRequest } from '../http.ts';
import { storedGroup, type Victim } from './victim.ts';

/** Members of a JSON object as text, so that numbers keep their digits and values can be invalid. */
export type Members = Readonly<Record<string, string>>;

export interface Operation {
  method: string;
  path: string;
  /** Members of a valid body. */
  members: Members;
  /** Required field; null if there is none. */
  required: string | null;
  /** Place of the group id in the request; null for operations without one. */
  idIn: 'body' | 'path' | null;
}

/** An operation without a body. */
export type BodilessOperation = Omit<Operation, 'members' | 'required'> & { members?: never };

const USER_GROUPS = '/v1/user-groups';

export function operationsOn({ id, token }: Pick<Victim, 'id' | 'token'>): Operation[] {
  const fields = {
    name: JSON.stringify(storedGroup.name),
    mapping: JSON.stringify(storedGroup.mapping),
    properties: JSON.stringify(storedGroup.properties),
  };
  const userGroup = {
    members: { user_group_id: JSON.stringify(id), ...fields },
    required: 'user_group_id',
    idIn: 'body',
  } as const;
  const tokenText = JSON.stringify(token);
  return [
    { method: 'GET', path: '/api/user', ...userGroup },
    { method: 'PUT', path: '/api/user', ...userGroup },
    { method: 'POST', path: USER_GROUPS, ...userGroup },
    { method: 'PATCH', path: `${USER_GROUPS}/${id}`, members: fields, required: null, idIn: 'path' },
    { method: 'PUT', path: `${USER_GROUPS}/${id}`, members: fields, required: 'name', idIn: 'path' },
    {
      method: 'POST',
      path: '/api/user',
      members: { current_token: tokenText, grace_period_seconds: '0' },
      required: 'current_token',
      idIn: null,
    },
    { method: 'POST', path: '/v1/resolve', members: { token: tokenText }, required: 'token', idIn: null },
  ];
}

export function bodilessOperationsOn({ id }: Pick<Victim, 'id'>): BodilessOperation[] {
  return [
    { method: 'GET', path: USER_GROUPS, idIn: null },
    { method: 'GET', path: `${USER_GROUPS}/${id}`, idIn: 'path' },
    { method: 'DELETE', path: `${USER_GROUPS}/${id}`, idIn: 'path' },
  ];
}

export function nameOf({ method, path }: Pick<Operation, 'method' | 'path'>): string {
  return `${method} ${path}`;
}

/** Returns the same operation with another group id, if it has one. */
export function onGroup(operation: Operation, id: string): Operation {
  const { idIn, members } = operation;
  if (idIn === 'path') return { ...operation, path: `${USER_GROUPS}/${encodeURIComponent(id)}` };
  return idIn === null
    ? operation
    : { ...operation, members: { ...members, user_group_id: JSON.stringify(id) } };
}

/** Returns a request of the operation, with the valid body unless `request` has another. */
export function requestOf(operation: Operation | BodilessOperation, request: TestRequest = {}): TestRequest {
  const { method, path, members } = operation;
  return { method, path, body: members && objectText(members), ...request };
}

export function objectText(members: Members): string {
  const texts = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(',')}}`;
}
