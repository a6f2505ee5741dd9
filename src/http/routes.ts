// Every path of the service.

import type { FastifyInstance } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import { noBody, resolveBody, rotateBody, userGroupBody, userGroupPatch } from '../domain/body.ts';
import { Recent } from '../domain/recent.ts';
import { addDocs } from './docs.ts';
import { groupOfBody, groupOfPath, groupOfToken } from './foresight.ts';
import { addHealth } from './health.ts';
import { type AnyOperation, addOperation, type OperationOptions, operation } from './operation.ts';
import { listQuery, noQuery } from './query.ts';
import { resolve } from './resolve.ts';
import { UnreadLists } from './slow-reader.ts';
import { createOrGet, getOrCreate, rotate, update } from './user-group.ts';
import { list, patch, read, remove } from './v1-user-group.ts';

const USER = ['/api/user', '/api/user/'];
const USER_GROUPS = ['/v1/user-groups'];
const USER_GROUP = ['/v1/user-groups/:user_group_id'];

/** Every call that needs an API token. The description of the API is made from it too. */
export const operations: readonly AnyOperation[] = [
  operation({
    operationId: 'getOrCreateUserGroup',
    method: 'GET',
    paths: USER,
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    access: 'either',
    query: noQuery,
    body: userGroupBody,
    foresee: groupOfBody,
    handle: getOrCreate,
  }),
  operation({
    operationId: 'updateUserGroup',
    method: 'PUT',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'update user groups',
    access: 'write',
    query: noQuery,
    body: userGroupBody,
    handle: update,
  }),
  operation({
    operationId: 'rotateUserGroupToken',
    method: 'POST',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'rotate tokens',
    access: 'write',
    query: noQuery,
    body: rotateBody,
    foresee: (_caller, { currentToken }) => groupOfToken(currentToken),
    handle: rotate,
  }),
  operation({
    operationId: 'createUserGroup',
    method: 'POST',
    paths: USER_GROUPS,
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    access: 'either',
    query: noQuery,
    body: userGroupBody,
    foresee: groupOfBody,
    handle: createOrGet,
  }),
  operation({
    operationId: 'listUserGroups',
    method: 'GET',
    paths: USER_GROUPS,
    permissions: ['read-write', 'read-only'],
    purpose: 'list user groups',
    access: 'list',
    query: listQuery,
    body: noBody,
    handle: list,
  }),
  operation({
    operationId: 'readUserGroup',
    method: 'GET',
    paths: USER_GROUP,
    permissions: ['read-write', 'read-only'],
    purpose: 'read user groups',
    access: 'read',
    query: noQuery,
    body: noBody,
    foresee: groupOfPath,
    handle: read,
  }),
  operation({
    operationId: 'patchUserGroup',
    method: 'PATCH',
    paths: USER_GROUP,
    permissions: ['read-write'],
    purpose: 'change user groups',
    access: 'write',
    query: noQuery,
    body: userGroupPatch,
    mediaTypes: ['application/merge-patch+json', 'application/json'],
    foresee: groupOfPath,
    handle: patch,
  }),
  operation({
    operationId: 'deleteUserGroup',
    method: 'DELETE',
    paths: USER_GROUP,
    permissions: ['read-write'],
    purpose: 'delete user groups',
    access: 'write',
    query: noQuery,
    body: noBody,
    handle: remove,
  }),
  operation({
    operationId: 'resolveUserGroupToken',
    method: 'POST',
    paths: ['/v1/resolve'],
    permissions: ['read-write', 'read-only', 'resolve'],
    purpose: 'resolve tokens',
    access: 'read',
    query: noQuery,
    body: resolveBody,
    foresee: (_caller, { token }) => groupOfToken(token),
    handle: resolve,
  }),
];

export function addRoutes(
  app: FastifyInstance,
  options: Omit<OperationOptions, 'lastCallers' | 'unreadLists'>,
  isReady: () => Promise<void>,
): void {
  const lastCallers = new Recent<Caller>(4_096);
  const unreadLists = new UnreadLists();
  for (const each of operations) addOperation(app, { ...options, lastCallers, unreadLists }, each);
  addHealth(app, isReady);
  addDocs(app, operations);
}
