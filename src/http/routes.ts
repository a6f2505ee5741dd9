// Every path of the service.

import type { FastifyInstance } from 'fastify';
import { resolveBody, rotateBody, userGroupBody } from '../domain/body.ts';
import type { Context } from '../operations/context.ts';
import { addHealth } from './health.ts';
import { addOperation, type Operation, operation, type RateLimit } from './operation.ts';
import { resolve } from './resolve.ts';
import { createOrGet, getOrCreate, rotate, update } from './user-group.ts';

const USER = ['/api/user', '/api/user/'];

/** Every call that needs an API token. The description of the API is made from it too. */
export const operations: readonly Operation<unknown>[] = [
  operation({
    operationId: 'getOrCreateUserGroup',
    method: 'GET',
    paths: USER,
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    body: userGroupBody,
    handle: getOrCreate,
  }),
  operation({
    operationId: 'updateUserGroup',
    method: 'PUT',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'update user groups',
    body: userGroupBody,
    handle: update,
  }),
  operation({
    operationId: 'rotateUserGroupToken',
    method: 'POST',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'rotate tokens',
    body: rotateBody,
    handle: rotate,
  }),
  operation({
    operationId: 'createUserGroup',
    method: 'POST',
    paths: ['/v1/user-groups'],
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    body: userGroupBody,
    handle: createOrGet,
  }),
  operation({
    operationId: 'resolveUserGroupToken',
    method: 'POST',
    paths: ['/v1/resolve'],
    permissions: ['read-write', 'read-only', 'resolve'],
    purpose: 'resolve tokens',
    body: resolveBody,
    handle: resolve,
  }),
];

export function addRoutes(
  app: FastifyInstance,
  context: Context,
  limit: RateLimit | null,
  isReady: () => Promise<void>,
): void {
  for (const each of operations) addOperation(app, context, limit, each);
  addHealth(app, isReady);
}
