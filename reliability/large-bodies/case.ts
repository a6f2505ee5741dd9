// Requests with bodies at every limit, for every endpoint that accepts one.

import { limits } from '../../src/domain/field.ts';
import { requestBytes } from '../support/connection.ts';
import { fill } from '../support/filler.ts';

export interface LargeGroup {
  id: string;
  token: string;
}

export interface LargeBody {
  name: string;
  /** The expected status if the service is not overloaded. */
  status: number;
  /** Properties of each group before the burst. */
  stored: string;
  textOf: (endpoint: Endpoint, group: LargeGroup) => string;
  isChunked?: true;
}

export interface Endpoint {
  name: string;
  method: 'GET' | 'PUT' | 'POST' | 'PATCH';
  path: (group: LargeGroup) => string;
  /** The members of a valid body, without braces. */
  members: (group: LargeGroup) => string;
  acceptsProperties: boolean;
}

const fieldsOf = ({ id }: LargeGroup): string => `"user_group_id":"${id}","name":"Large"`;

export const endpoints: readonly Endpoint[] = [
  {
    name: 'getOrCreateUserGroup',
    method: 'GET',
    path: () => '/api/user',
    members: fieldsOf,
    acceptsProperties: true,
  },
  {
    name: 'updateUserGroup',
    method: 'PUT',
    path: () => '/api/user',
    members: fieldsOf,
    acceptsProperties: true,
  },
  {
    name: 'rotateUserGroupToken',
    method: 'POST',
    path: () => '/api/user',
    members: ({ token }) => `"current_token":"${token}"`,
    acceptsProperties: false,
  },
  {
    name: 'createUserGroup',
    method: 'POST',
    path: () => '/v1/user-groups',
    members: fieldsOf,
    acceptsProperties: true,
  },
  {
    name: 'patchUserGroup',
    method: 'PATCH',
    path: ({ id }) => `/v1/user-groups/${id}`,
    members: () => '"name":"Large"',
    acceptsProperties: true,
  },
  {
    name: 'resolveUserGroupToken',
    method: 'POST',
    path: () => '/v1/resolve',
    members: ({ token }) => `"token":"${token}"`,
    acceptsProperties: false,
  },
];

const CHUNKS_END = Buffer.from('\r\n0\r\n\r\n');
const SMALL = '{"plan":"gold"}';
const FRAME_BYTES = 40;

/** Properties at the size limit, in the most expensive forms. */
const values = {
  levels: nested(fill(limits.propertiesBytes - 200, member)),
  numbers: `[${fill(limits.propertiesBytes - FRAME_BYTES, () => '1')}]`,
  text: `"${'é'.repeat((limits.propertiesBytes - FRAME_BYTES) / 2)}"`,
};

export const bodies: readonly LargeBody[] = [
  {
    name: 'unknown fields',
    status: 400,
    stored: SMALL,
    textOf: () => `{${fill(limits.bodyBytes - 2, member)}}`,
  },
  {
    name: 'unfinished',
    status: 400,
    stored: SMALL,
    textOf: (endpoint, group) => {
      const start = `{${endpoint.members(group)},"properties":[`;
      return start + fill(limits.bodyBytes - start.length, () => '{}');
    },
  },
  {
    name: 'too large',
    status: 413,
    stored: SMALL,
    textOf: () => ' '.repeat(limits.bodyBytes + 1),
    isChunked: true,
  },
  {
    name: 'large answers',
    status: 200,
    stored: `{"text":${values.text}}`,
    textOf: (endpoint, group) => `{${endpoint.members(group)}}`,
  },
  {
    name: 'too many entries',
    status: 400,
    stored: SMALL,
    textOf: (endpoint, group) => {
      const start = `{${endpoint.members(group)},"properties":{`;
      return `${start}${fill(limits.bodyBytes - start.length - 2, member)}}}`;
    },
  },
  ...Object.entries(values).map(([name, value]) => ({
    name,
    status: 200,
    // The stored properties have the same members in a different order, so that all of them are compared.
    stored: `{"last":1,"first":${value}}`,
    textOf: (endpoint: Endpoint, group: LargeGroup) =>
      `{${endpoint.members(group)},"properties":{"first":${value},"last":1}}`,
  })),
];

export function accepts({ acceptsProperties }: Endpoint, { name }: LargeBody): boolean {
  return acceptsProperties || !(name === 'too many entries' || name in values);
}

export function requestOf(
  endpoint: Endpoint,
  body: LargeBody,
  group: LargeGroup,
  apiToken: string,
): Uint8Array {
  const parts = { method: endpoint.method, path: endpoint.path(group), apiToken };
  const text = body.textOf(endpoint, group);
  if (!body.isChunked) return requestBytes({ ...parts, body: text });
  const bytes = Buffer.from(text);
  const head = requestBytes({ ...parts, headers: ['Transfer-Encoding: chunked'] });
  return Buffer.concat([head, Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CHUNKS_END]);
}

function member(index: number): string {
  return `"k${index.toString(36).padStart(4, '0')}":${index % 10}`;
}

/** Returns properties at the nesting limit: the properties and their member `first` are two of the levels. */
function nested(members: string): string {
  const levels = limits.propertiesLevels - 1;
  return `${'{"a":'.repeat(levels - 1)}{${members}}${'}'.repeat(levels - 1)}`;
}
