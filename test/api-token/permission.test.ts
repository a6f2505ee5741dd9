// Contract: each endpoint requires a permission, and an API token sees nothing outside its workspace and environment. The
// lists below name every endpoint that another permission than admin allows, or that needs no API token.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { openApi } from '../../scripts/openapi/document.ts';
import type { Permission } from '../../src/domain/api-token.ts';
import * as surface from '../../src/http/routes.ts';
import { ApiDescription, type DescribedOperation } from '../support/api-description/api-description.ts';
import {
  EXISTING,
  EXISTING_ENDPOINT,
  errorRequests,
  requestOf,
} from '../support/api-description/described-refusal.ts';
import { describeOnEachDatabase } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import type { TestRequest, TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const PUBLIC = [
  'checkAlive',
  'checkReady',
  'readKeySet',
  'readOpenIdConfiguration',
  'readOpenApi',
  'readConfigSchema',
  'readDocumentation',
  'readErrors',
];
const IDENTIFY = ['resolveUserGroupToken', 'introspectToken', 'forwardAuth', 'whoami'];
const READ = [
  'getOrCreateUserGroup',
  'createUserGroup',
  'listUserGroups',
  'readUserGroup',
  'listUserGroupEvents',
  'listEvents',
  'listUsage',
  'readSchema',
  'listSchemas',
  'readDataSource',
  'listDataSources',
  'readMappingPolicy',
  'readPropertySchema',
];
const WRITE = [
  'updateUserGroup',
  'rotateUserGroupToken',
  'replaceUserGroup',
  'patchUserGroup',
  'deleteUserGroup',
  'rotateUserGroupTokenById',
  'renameUserGroup',
  'suspendUserGroup',
  'resumeUserGroup',
];
/** The last one deletes the user group. */
const permitted: Record<Exclude<Permission, 'admin'>, readonly string[]> = {
  resolve: IDENTIFY,
  embed: [...IDENTIFY, 'createEmbedToken'],
  'read-only': [...IDENTIFY, ...READ],
  'read-write': [...IDENTIFY, ...READ, ...WRITE, 'createEmbedToken'],
};

const { operations } = new ApiDescription(openApi(surface));

/** Returns the request of the operation, on the existing user group if its body names one. */
function onExisting(operation: DescribedOperation): TestRequest {
  const request = requestOf(operation);
  return namesUserGroup(request) ? { ...request, body: { user_group_id: EXISTING.user_group_id } } : request;
}

function namesUserGroup({ body }: TestRequest): boolean {
  return typeof body === 'object' && body !== null && 'user_group_id' in body;
}

describeOnEachDatabase('An API token', (database) => {
  const service = TestService.of(database, { env: { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' } });
  before(async () => {
    service.token = (await service.apiToken({ permission: 'admin' })).token;
    const endpoint = { url: 'http://127.0.0.1:1025/', event_types: ['*'] };
    for (const [method, path, body] of [
      ['GET', '/api/user', EXISTING],
      ['PUT', '/v1/integrations/metabase', integrations.metabase],
      ['PUT', `/v1/webhook-endpoints/${EXISTING_ENDPOINT}`, endpoint],
      ['PUT', '/v1/schemas/40', { name: 'Orders' }],
      ['PUT', '/v1/data-sources/acme-orders', { schema_id: '40', name: 'Orders' }],
    ] as const) {
      const { status, text } = await served(() => service.call(method, path, body));
      assert.ok(status < 300, text);
    }
  });

  const call = ({ method, path, body }: TestRequest, token: string | null): Promise<TestResponse> =>
    service.call(method!, path!, body, { token });

  /** Returns the operations whose response does not have the code. */
  async function operationsWithout(code: string, token: string | null): Promise<string[]> {
    const others: string[] = [];
    for (const operation of operations)
      if ((await call(onExisting(operation), token)).json?.code !== code) others.push(operation.operationId);
    return others.toSorted();
  }

  /** Returns which of the existing objects the lists contain. */
  async function listed(token: string): Promise<Set<string>> {
    const isList = ({ method, path, security }: DescribedOperation) =>
      method === 'GET' && security.length > 0 && !path.includes('{');
    const pages = await Promise.all(operations.filter(isList).map((list) => call(requestOf(list), token)));
    return new Set(pages.flatMap(({ text }) => text.match(/There|Orders|metabase|127\.0\.0\.1/g) ?? []));
  }

  async function changes(): Promise<{ type: string }[]> {
    const { json } = await service.call('GET', '/v1/events?limit=1000');
    assert.equal(json.next_cursor, null);
    return json.events;
  }

  it('is required by every endpoint that is not public, and valid', async () => {
    const expired = await service.apiToken({ permission: 'admin', expiresAt: Date.now() - 1 });
    const revoked = await service.apiToken({ permission: 'admin' });
    await service.revokeApiToken(revoked.id);
    const rotated = await service.apiToken({ permission: 'admin' });
    await service.call('POST', `/v1/api-tokens/${rotated.id}/rotate`);
    for (const token of [null, expired.token, revoked.token, rotated.token])
      assert.deepEqual(await operationsWithout('unauthenticated', token), PUBLIC.toSorted());
  });

  for (const place of [{ workspaceName: 'elsewhere' }, { environment: 'Testing' } as const]) {
    it(`does not learn from any endpoint what exists in another place than ${Object.values(place)}`, async () => {
      const { token } = await service.apiToken({ permission: 'admin', ...place });
      const before = await changes();
      const isAbout = (operation: DescribedOperation) =>
        operation.security.length > 0 &&
        operation.method !== 'PUT' &&
        (operation.path.includes('{') || namesUserGroup(requestOf(operation)));
      for (const operation of operations.filter(isAbout)) {
        const request = onExisting(operation);
        const existing = await call(request, token);
        const missing = await call({ ...request, ...errorRequests(operation).user_group_not_found }, token);
        const outcomes = [existing, missing].map(({ status, json }) => [status, json?.code]);
        assert.deepEqual(outcomes[0], outcomes[1], operation.operationId);
        // The events of a deleted group remain, so the list of a missing one is empty.
        if (operation.operationId === 'listUserGroupEvents') assert.deepEqual(existing.json.events, []);
        else assert.match(`${existing.status} ${existing.json.code}`, /^404 (\w+_)?not_found$/);
        assert.doesNotMatch(existing.text, new RegExp(EXISTING.name), operation.operationId);
      }
      assert.deepEqual(await changes(), before);
      assert.deepEqual(await listed(token), new Set());
      assert.equal((await listed(service.token)).size, 4);
    });
  }

  describe('allows nothing but what its permission allows:', () => {
    for (const [permission, allowed] of Object.entries(permitted) as [Permission, string[]][]) {
      it(permission, async () => {
        const { token } = await service.apiToken({ permission });
        const { length } = await changes();
        const found = await operationsWithout('permission_denied', token);
        assert.deepEqual(found, [...PUBLIC, ...allowed].toSorted());
        const types = (await changes()).slice(0, -length).map(({ type }) => type);
        assert.equal(types.length > 0, allowed.includes('updateUserGroup'));
        assert.ok(
          types.every((type) => type.startsWith('user_group.')),
          types.join(),
        );
      });
    }
  });
});
