// The description of the API at /openapi.json is valid, whole, and what the service does.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import fastify from 'fastify';
import { permissions } from '../src/domain/api-token.ts';
import { openApi } from '../src/http/openapi/document.ts';
import { operationDescriptions } from '../src/http/openapi/operations.ts';
import { addRoutes, operations } from '../src/http/routes.ts';
import { RunningOperations } from '../src/http/running-operations.ts';
import type { Context } from '../src/operations/context.ts';
import { type ProblemCode, problems } from '../src/problem.ts';
import { ApiDescription, type DescribedOperation, examplesOf, nameOf } from './api-description.ts';
import { describeOnEachDatabase } from './database.ts';
import { refusedRequests, requestOf, THERE } from './described-refusal.ts';
import { send, type TestAnswer, type TestRequest } from './http.ts';
import { causes } from './problem-cause.ts';
import { TestService } from './service.ts';

const document = openApi(operations);
const description = new ApiDescription(document);

/** Every method of every path. HEAD is a GET without a body, and a slash at the end makes no other path. */
function routesOfService(): Set<string> {
  const routes = new Set<string>();
  const app = fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', ({ method, url }) => {
    const path = url.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');
    for (const each of [method].flat()) if (each !== 'HEAD') routes.add(`${each} ${path}`);
  });
  addRoutes(app, { context: {} as Context, limit: null, running: new RunningOperations() }, async () => {});
  return routes;
}

/** Every schema within that objects can be of, and where it stands. */
function objectsIn(schema: object, path: string): { path: string; schema: object }[] {
  const within = Object.entries(schema).flatMap(([key, member]) =>
    typeof member === 'object' && member !== null ? objectsIn(member, `${path}/${key}`) : [],
  );
  const isObject = 'type' in schema && [schema.type].flat().includes('object');
  return isObject ? [{ path, schema }, ...within] : within;
}

describe('The description of the API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...document });
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
  });

  it('has every route of the service, and none more', () => {
    const described = description.operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(described), routesOfService());
  });

  it('says of every object which members it may have: generators take one that does not for an empty one', () => {
    const objects = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      objectsIn(schema ?? {}, name),
    );
    assert.ok(objects.length > 20);
    for (const { path, schema } of objects) {
      assert.ok('properties' in schema || 'additionalProperties' in schema, path);
    }
  });

  it('has words for no operation that there is not, and not for two the same', () => {
    const ids = operations.map(({ operationId }) => operationId);
    assert.deepEqual(ids.toSorted(), Object.keys(operationDescriptions).toSorted());
  });

  it('shows every error code', () => {
    const shown = description.operations.flatMap((operation) => description.refusals(operation));
    assert.deepEqual(new Set(shown), new Set(Object.keys(problems)));
  });

  for (const { operationId, body } of operations.filter((each) => each.body.schema !== null)) {
    it(`shows requests that the service accepts: ${operationId}`, () => {
      const examples = Object.values(examplesOf(description.operation(operationId).requestBody));
      assert.ok(examples.length > 0);
      for (const { value } of examples) body.read(Buffer.from(JSON.stringify(value)));
    });
  }

  for (const operation of description.operations) {
    it(`shows answers that its schemas allow, each where it belongs: ${operation.operationId}`, () => {
      for (const status of Object.keys(operation.responses).map(Number)) {
        const response = description.response(operation, status);
        for (const [name, { value }] of Object.entries(examplesOf(response))) {
          description.assertValid(nameOf(Object.values(response.content!)[0]!.schema), value);
          if (status < 400) continue;
          const { code, status: shown } = value as { code: string; status: number };
          assert.deepEqual([code, shown], [name, status]);
        }
      }
    });
  }
});

describeOnEachDatabase('The service answers as it is described', (database) => {
  let service: TestService;
  before(async () => {
    service = await TestService.start(database);
    await service.get(THERE);
  });
  after(() => service.end());

  it('at every success of every operation', async () => {
    const seen = new Set<string>();
    const call = async (operationId: string, request: TestRequest = {}): Promise<TestAnswer> => {
      const operation = description.operation(operationId);
      const answer = await send(service.url, { ...requestOf(operation), token: service.token, ...request });
      description.assertDescribed(operation, answer);
      seen.add(`${operationId} ${answer.status}`);
      return answer;
    };
    const id = 'a/b %2F \u{1f642}';
    const path = `/v1/user-groups/${encodeURIComponent(id)}`;
    const group = { user_group_id: id, name: 'A', mapping: { 40: '213', 41: 7 }, properties: { a: [1.5] } };
    const readOnly = await service.apiToken({ permission: 'read-only' });

    await call('getOrCreateUserGroup', { body: group });
    await call('getOrCreateUserGroup', { body: { user_group_id: id } });
    const drifted = await call('getOrCreateUserGroup', {
      body: { user_group_id: id, name: 'B', mapping: null, properties: null },
    });
    assert.equal(drifted.headers['user-group-drift'], 'name, mapping, properties');
    await call('createUserGroup', { body: group });
    await call('createUserGroup', { body: { user_group_id: 'bare', name: 'Bare', properties: null } });
    await call('updateUserGroup', { body: { user_group_id: 'bare', name: 'Bare still' } });
    await call('updateUserGroup', { body: group, headers: { 'if-match': drifted.headers.etag } });
    const { token } = drifted.json.user_group;
    await call('rotateUserGroupToken', { body: { current_token: token, grace_period_seconds: 60 } });
    assert.equal((await call('resolveUserGroupToken', { body: { token } })).json.token.status, 'retiring');
    const read = await call('readUserGroup', { path });
    await call('resolveUserGroupToken', { body: { token: read.json.user_group.token } });
    assert.equal('token' in (await call('readUserGroup', { path, ...readOnly })).json.user_group, false);
    await call('patchUserGroup', { path, body: { properties: { b: null, c: {} } } });
    const first = await call('listUserGroups', { path: '/v1/user-groups?limit=1' });
    const cursor = encodeURIComponent(first.json.next_cursor);
    await call('listUserGroups', { path: `/v1/user-groups?limit=1&cursor=${cursor}`, ...readOnly });
    await call('listUserGroups', { path: '/v1/user-groups?search=a' });
    await call('deleteUserGroup', { path });
    const needNoToken = description.operations.filter(({ security }) => security.length === 0);
    for (const { operationId } of needNoToken) await call(operationId, { token: null });

    const described = description.operations.flatMap((operation) =>
      description.statuses(operation).successes.map((status) => `${operation.operationId} ${status}`),
    );
    assert.deepEqual(seen, new Set(described));
  });

  /** An API token that the operation refuses, where there is one. */
  async function tokenWithoutPermission({ operationId }: DescribedOperation): Promise<string | null> {
    const permitted = operations.find((each) => each.operationId === operationId)?.permissions ?? permissions;
    const permission = permissions.find((each) => !permitted.includes(each));
    return permission === undefined ? null : (await service.apiToken({ permission })).token;
  }

  for (const operation of description.operations) {
    it(`at refusals, in the words of its examples: ${operation.operationId}`, async () => {
      const good = { token: service.token, ...requestOf(operation) };
      const requests = refusedRequests(operation);
      requests.permission_denied = { token: await tokenWithoutPermission(operation) };
      for (const code of description.refusals(operation)) {
        if (requests[code] === undefined) continue;
        const answer = await send(service.url, { ...good, ...requests[code] });
        description.assertDescribed(operation, answer);
        const example = description.refusal(operation, code);
        assert.deepEqual({ ...answer.json, request_id: example.request_id }, example);
      }
    });
  }

  for (const [code, cause] of Object.entries(causes(database, () => service))) {
    it(`at refusals, whatever raises them: ${code}`, async () => {
      const refused = (each: DescribedOperation) => description.refusals(each).includes(code as ProblemCode);
      const answer = await cause();
      assert.equal(answer.json.code, code);
      description.assertDescribed(description.operations.find(refused)!, answer);
    });
  }
});
