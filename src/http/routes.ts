// Every path of the service.

import type { FastifyInstance } from 'fastify';
import { resolveBody, rotateBody, userGroupBody } from '../domain/body.ts';
import type { Context } from '../operations/context.ts';
import { addHealth } from './health.ts';
import { addOperation, type RateLimit } from './operation.ts';
import { resolve } from './resolve.ts';
import { createOrGet, getOrCreate, rotate, update } from './user-group.ts';

const USER = ['/api/user', '/api/user/'];

export function addRoutes(
  app: FastifyInstance,
  context: Context,
  limit: RateLimit | null,
  isReady: () => Promise<void>,
): void {
  addOperation(app, context, limit, {
    method: 'GET',
    paths: USER,
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    body: userGroupBody,
    handle: getOrCreate,
  });
  addOperation(app, context, limit, {
    method: 'PUT',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'update user groups',
    body: userGroupBody,
    handle: update,
  });
  addOperation(app, context, limit, {
    method: 'POST',
    paths: USER,
    permissions: ['read-write'],
    purpose: 'rotate tokens',
    body: rotateBody,
    handle: rotate,
  });
  addOperation(app, context, limit, {
    method: 'POST',
    paths: ['/v1/user-groups'],
    permissions: ['read-write', 'read-only'],
    purpose: 'get user groups',
    body: userGroupBody,
    handle: createOrGet,
  });
  addOperation(app, context, limit, {
    method: 'POST',
    paths: ['/v1/resolve'],
    permissions: ['read-write', 'read-only', 'resolve'],
    purpose: 'resolve tokens',
    body: resolveBody,
    handle: resolve,
  });
  addHealth(app, isReady);
}
