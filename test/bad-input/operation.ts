// The operations as data, so that a table of bad values is crossed with all of them.

import type { TestRequest } from '../http.ts';
import { storedGroup, type Victim } from './victim.ts';

/** The members of a JSON object, each as its text: a number keeps its digits, and nonsense can stand there. */
export type Members = Readonly<Record<string, string>>;

export interface Operation {
  method: string;
  path: string;
  /** The members of a body that is accepted. */
  members: Members;
  required: string;
  /** Whether it takes an id, so that what it does depends on whether there is a group of it. */
  isById: boolean;
}

export function operationsOn(victim: Pick<Victim, 'id' | 'token'>): Operation[] {
  const userGroup = {
    members: {
      user_group_id: JSON.stringify(victim.id),
      name: JSON.stringify(storedGroup.name),
      mapping: JSON.stringify(storedGroup.mapping),
      properties: JSON.stringify(storedGroup.properties),
    },
    required: 'user_group_id',
    isById: true,
  };
  const token = JSON.stringify(victim.token);
  return [
    { method: 'GET', path: '/api/user', ...userGroup },
    { method: 'PUT', path: '/api/user', ...userGroup },
    { method: 'POST', path: '/v1/user-groups', ...userGroup },
    {
      method: 'POST',
      path: '/api/user',
      members: { current_token: token, grace_period_seconds: '0' },
      required: 'current_token',
      isById: false,
    },
    { method: 'POST', path: '/v1/resolve', members: { token }, required: 'token', isById: false },
  ];
}

export function nameOf({ method, path }: Operation): string {
  return `${method} ${path}`;
}

/** A request of the operation, with the accepted body where `request` has no other. */
export function requestOf(operation: Operation, request: TestRequest = {}): TestRequest {
  const { method, path, members } = operation;
  return { method, path, body: objectText(members), ...request };
}

export function objectText(members: Members): string {
  const texts = Object.entries(members).map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return `{${texts.join(',')}}`;
}
