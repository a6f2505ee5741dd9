// The API description at /openapi.json is valid and complete, and matches the service.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import fastify from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { componentSchemas } from '../../scripts/openapi/component-schemas.ts';
import { openApi } from '../../scripts/openapi/document.ts';
import { permissions } from '../../src/domain/api-token.ts';
import { eventTypes } from '../../src/domain/event/event.ts';
import { environments } from '../../src/domain/tenant.ts';
import { mintWebhookSecrets, webhookHeaders } from '../../src/domain/webhook-endpoint/webhook-signature.ts';
import { problems } from '../../src/http/response/problem.ts';
import * as surface from '../../src/http/routes.ts';
import type { Schema } from '../../src/http/schema.ts';
import type { Context } from '../../src/operations/context.ts';
import {
  ApiDescription,
  type DescribedOperation,
  examplesOf,
  nameOf,
} from '../support/api-description/api-description.ts';
import {
  EXISTING,
  EXISTING_ENDPOINT,
  errorRequests,
  requestOf,
} from '../support/api-description/described-refusal.ts';
import { unlimitedRoutes } from '../support/api-description/route-options.ts';
import { describeOnEachDatabase, sqlite } from '../support/database.ts';
import { integrations } from '../support/embed-token/site.ts';
import { send, type TestRequest, type TestResponse } from '../support/http.ts';
import { served } from '../support/process.ts';
import { TestService } from '../support/service.ts';

const { addRoutes, endpoints } = surface;
const document = openApi(surface);
const description = new ApiDescription(document);

/**
 * Returns every method of every path, without HEAD, variants with a trailing slash, and the assets of the
 * documentation pages.
 */
function routesOfService(): Set<string> {
  const routes = new Set<string>();
  const app = fastify({ exposeHeadRoutes: false });
  app.addHook('onRoute', ({ method, url }) => {
    if (url.startsWith('/docs/assets/')) return;
    const path = url.replace(/\/$/, '').replace(/:(\w+)/g, '{$1}');
    // A route with several methods treats them alike.
    const [each] = [method].flat();
    if (each !== 'HEAD') routes.add(`${each} ${path}`);
  });
  addRoutes(app, unlimitedRoutes({} as Context));
  return routes;
}

/** Returns every nested schema that has a type or a choice, with its path. */
function schemasIn(schema: object, path: string): { path: string; schema: Schema }[] {
  const nested = Object.entries(schema).flatMap(([key, member]) =>
    typeof member === 'object' && member !== null ? schemasIn(member, `${path}/${key}`) : [],
  );
  return 'type' in schema || 'oneOf' in schema ? [{ path, schema: schema as Schema }, ...nested] : nested;
}

describe('The description of the API', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...document });
    assert.ok(valid, JSON.stringify(errors, null, 2));
    assert.equal(validator.version, '3.1');
  });

  it('has exactly the routes of the service', () => {
    const described = description.operations.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(new Set(described), routesOfService());
  });

  it('declares the members of every object: generators treat an object without them as empty', () => {
    const objects = Object.entries(description.schemas)
      .flatMap(([name, schema]) => schemasIn(schema, name))
      .filter(({ schema }) => [schema.type].flat().includes('object'));
    assert.ok(objects.length > 20);
    for (const { path, schema } of objects) {
      assert.ok('properties' in schema || 'additionalProperties' in schema, path);
    }
  });

  it('has a name for every object and choice that it repeats: generators give each occurrence a type', () => {
    const repeatable = Object.entries(description.schemas)
      .flatMap(([name, schema]) => schemasIn(schema, name))
      .filter(({ path, schema }) => path.includes('/') && (schema.properties ?? schema.oneOf) !== undefined);
    const alike = Map.groupBy(repeatable, ({ schema: { description, ...rest } }) => JSON.stringify(rest));
    const repeated = [...alike.values()].filter(({ length }) => length > 1);
    assert.deepEqual(
      repeated.map((each) => each.map(({ path }) => path)),
      [],
    );
  });

  it('gives no value several types but null, which generators refuse', () => {
    const mixed = JSON.stringify(document)
      .match(/"type":\[[^\]]*\]/g)
      ?.filter((types) => !/^"type":\["\w+","null"\]$/.test(types));
    assert.deepEqual(mixed, []);
  });

  it('has a choice only between types of a value: generators take one object for another, or none', () => {
    const choices = Object.entries(description.schemas)
      .flatMap(([name, schema]) => schemasIn(schema, name))
      .flatMap(({ schema }) => schema.oneOf ?? []);
    assert.ok(choices.length > 0);
    for (const { type } of choices) assert.ok(['string', 'integer', 'null'].includes(String(type)));
    assert.doesNotMatch(JSON.stringify(document), /"(?:anyOf|allOf|discriminator)":/);
  });

  it('gives every integer beyond 32 bits a format: generators for Java and Rust choose the type by it', () => {
    const isInteger = ({ type }: Schema) => [type].flat().includes('integer');
    const { schemas, operations } = description;
    const parameters = Object.fromEntries(
      operations.map(({ operationId, parameters = [] }) => [operationId, parameters]),
    );
    const integers = Object.entries({ ...schemas, ...parameters, ...document.webhooks }).flatMap(
      ([name, schema]) =>
        schemasIn(schema ?? {}, name).filter(
          (each) => isInteger(each.schema) && each.schema.const === undefined,
        ),
    );
    assert.ok(integers.length > 20);
    for (const { path, schema } of integers)
      assert.equal(schema.format === 'int64', !(Number(schema.maximum) < 2 ** 31), path);
  });

  it('has a webhook for each type of event, with the body and the headers of a delivery', () => {
    const { webhooks = {} } = document;
    assert.deepEqual(Object.keys(webhooks), eventTypes);
    const names = Object.keys(webhookHeaders(mintWebhookSecrets(), { id: 'evt_1', now: 0, body: '{}' }));
    for (const { post } of Object.values(webhooks) as { post: OpenAPIV3_1.OperationObject }[])
      assert.deepEqual(
        post.parameters?.map((each) => 'name' in each && each.name),
        names,
      );
  });

  it('allows null for the environment of a group in every response, as specified', () => {
    const tags = Object.entries(document.components!.schemas!).flatMap(([name, schema]) =>
      schemasIn(schema ?? {}, name).flatMap(({ path, schema: { properties } }) =>
        properties?.api_environment_tag === undefined ? [] : [{ path, tag: properties.api_environment_tag }],
      ),
    );
    assert.ok(tags.length >= 4);
    for (const { path, tag } of tags) {
      const { type, enum: values } = tag as Schema;
      assert.deepEqual({ type, values }, { type: ['string', 'null'], values: [...environments, null] }, path);
    }
  });

  it('has distinct operationIds and schema names', () => {
    const ids = description.operations.map(({ operationId }) => operationId);
    assert.deepEqual(ids, [...new Set(ids)]);
    const schemas = endpoints.flatMap(({ body, description: { responses } }) => [
      ...(body.schema === null ? [] : [body.schema]),
      ...Object.values(responses).flatMap(({ schema }) => schema ?? []),
    ]);
    for (const each of schemas) {
      const title = each.title!;
      assert.deepEqual(document.components!.schemas![title], componentSchemas([each])[title], title);
    }
  });

  it('describes a parameter in one place: generators show the description of its schema instead', () => {
    for (const { operationId, parameters = [] } of description.operations)
      for (const { name, schema } of parameters)
        assert.ok(!('description' in schema), `${operationId}: ${name}`);
  });

  it('has one schema for every success of an operation: many generators decode each with that of the first', () => {
    for (const { operationId, responses } of description.operations) {
      const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      const references = successes.map(
        ([, each]) => 'content' in each && Object.values(each.content!)[0]!.schema.$ref,
      );
      assert.equal(new Set(references).size, 1, operationId);
    }
  });

  it('names no authentication like a schema: generators give both a type', () => {
    const { schemas, securitySchemes } = document.components!;
    const names = [...Object.keys(schemas!), ...Object.keys(securitySchemes!)].map((name) =>
      name.toLowerCase(),
    );
    assert.deepEqual(names, [...new Set(names)]);
  });

  it('names no schema like the constructor of another, which generators for Go declare', () => {
    const names = Object.keys(description.schemas);
    assert.deepEqual(
      names.filter((name) => names.includes(name.replace(/^New/, '')) && name.startsWith('New')),
      [],
    );
  });

  it('does not mention further members of a form, which generators refuse', () => {
    const { properties, additionalProperties } = description.schemas.TokenIntrospection!;
    assert.deepEqual(Object.keys(properties!), ['token', 'token_type_hint']);
    assert.equal(additionalProperties, undefined);
  });

  it('says which operations accept Bearer', () => {
    for (const { operationId, security } of description.operations) {
      const names = security.flatMap((each) => Object.keys(each));
      assert.equal(names.includes('bearer'), names.length > 0, operationId);
    }
  });

  it('has overloaded for every page: a page waits for the processor', () => {
    for (const { operationId, isUnlimited } of surface.publicEndpoints) {
      const codes = description.errorCodes(description.operation(operationId));
      assert.ok(isUnlimited || codes.includes('overloaded'), operationId);
    }
  });

  it('has an example of every error code', () => {
    const shown = description.operations.flatMap((operation) => description.errorCodes(operation));
    assert.deepEqual(new Set(shown), new Set(Object.keys(problems)));
  });

  for (const { operationId, body, protocol } of endpoints.filter((each) => each.body.schema !== null)) {
    it(`has request examples that the service accepts: ${operationId}`, () => {
      const examples = Object.values(examplesOf(description.operation(operationId).requestBody));
      assert.ok(examples.length > 0);
      for (const { value } of examples)
        body.read(
          Buffer.from(protocol === 'oauth' ? `${new URLSearchParams(value)}` : JSON.stringify(value)),
        );
    });
  }

  it('has limits of bytes and levels that hold', () => {
    const nested = (levels: number): object => (levels === 1 ? {} : { a: nested(levels - 1) });
    const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
    const limited = endpoints.flatMap(({ operationId, body }) =>
      Object.entries(body.schema?.properties ?? {}).flatMap(([field, schema]) => {
        const { 'x-max-bytes': bytes, 'x-max-levels': levels } = schema;
        return bytes === undefined && levels === undefined
          ? []
          : [{ operationId, body, field, bytes, levels }];
      }),
    );
    assert.deepEqual(
      limited.map(({ operationId, field, bytes, levels }) => [operationId, field, bytes, levels]),
      [
        ['getOrCreateUserGroup', 'properties', 65_536, 16],
        ['updateUserGroup', 'properties', 65_536, 16],
        ['createUserGroup', 'properties', 65_536, 16],
        ['replaceUserGroup', 'properties', 65_536, 16],
        ['patchUserGroup', 'properties', 65_536, 16],
        ['putDataSource', 'attributes', 16_384, undefined],
        ['putPropertySchema', 'schema', 65_536, undefined],
      ],
    );
    for (const { operationId, body, field, bytes, levels } of limited) {
      const read = (value: object) => {
        const [example] = Object.values(examplesOf(description.operation(operationId).requestBody));
        return body.read(Buffer.from(JSON.stringify({ ...(example!.value as object), [field]: value })));
      };
      if (levels !== undefined) {
        read(nested(levels));
        assert.throws(() => read(nested(levels + 1)), { code: 'invalid_json' }, `${operationId}: ${field}`);
      }
      if (bytes !== undefined) {
        read(sized(bytes));
        assert.throws(() => read(sized(bytes + 1)), { code: 'invalid_request' }, `${operationId}: ${field}`);
      }
    }
  });

  for (const operation of description.operations) {
    it(`has response examples that are valid and under the right status: ${operation.operationId}`, () => {
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

/** Nothing listens at this URL. */
const ENDPOINT = { url: 'http://127.0.0.1:1025/', event_types: ['*'] };

describeOnEachDatabase('The responses of the service match the API description', (database) => {
  const service = TestService.of(database, { env: { UGS_WEBHOOK_ALLOW_PRIVATE: 'on' } });
  before(async () => {
    // Allows every operation.
    service.token = (await service.apiToken({ permission: 'admin' })).token;
    await service.get(EXISTING);
    const { resources: _, ...settings } = integrations.metabase.settings;
    const metabase = { ...integrations.metabase, settings: { ...settings, resources: [{ dashboard: 7 }] } };
    await served(() => service.call('PUT', '/v1/integrations/metabase', metabase));
    await service.call('PUT', `/v1/webhook-endpoints/${EXISTING_ENDPOINT}`, ENDPOINT);
    await service.call('PUT', '/v1/schemas/40', { name: 'Orders' });
    await service.call('PUT', '/v1/data-sources/acme-orders', { schema_id: '40', name: 'Orders' });
    await served(() => service.call('PUT', '/v1/property-schema', { schema: {}, mode: 'off' }));
  });

  it('for every success of every operation', async () => {
    const seen = new Set<string>();
    const call = async (operationId: string, request: TestRequest = {}): Promise<TestResponse> => {
      const operation = description.operation(operationId);
      const answer = await served(() =>
        send(service.url, { ...requestOf(operation), token: service.token, ...request }),
      );
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
    const read = await call('readUserGroup', { path, ...(await service.apiToken()) });
    await call('readUserGroup', { path, headers: { 'if-none-match': read.headers.etag } });
    await call('resolveUserGroupToken', { body: { token: read.json.user_group.token } });
    assert.equal('token' in (await call('readUserGroup', { path, ...readOnly })).json.user_group, false);
    await call('patchUserGroup', { path, body: { properties: { b: null, c: {} } } });
    const first = await call('listUserGroups', { path: '/v1/user-groups?limit=1' });
    const cursor = encodeURIComponent(first.json.next_cursor);
    await call('listUserGroups', { path: `/v1/user-groups?limit=1&cursor=${cursor}`, ...readOnly });
    await call('listUserGroups', { path: '/v1/user-groups?search=a' });
    const full = { name: 'C', properties: { a: 1 } };
    assert.equal((await call('replaceUserGroup', { path, body: full })).status, 200);
    const other = '/v1/user-groups/replaced';
    assert.equal((await call('replaceUserGroup', { path: other, body: full })).status, 201);
    await call('rotateUserGroupTokenById', { path: `${path}/rotate`, body: undefined });
    await call('renameUserGroup', { path: `${path}/rename`, body: { user_group_id: 'renamed' } });
    await call('renameUserGroup', { path: '/v1/user-groups/renamed/rename', body: { user_group_id: id } });
    await call('listUserGroupEvents', { path: `${path}/events` });
    await call('listEvents', { path: '/v1/events?order=oldest&limit=2', ...readOnly });
    await call('listEvents');
    await service.writeUsage();
    await call('listUsage', { path: '/v1/usage?group_by=month&limit=2', ...readOnly });
    await call('suspendUserGroup', { path: `${path}/suspend` });
    await call('listUserGroups', { path: '/v1/user-groups?suspended=true&match=contains&search=C' });
    await call('resumeUserGroup', { path: `${path}/resume` });
    await call('deleteUserGroup', { path });
    const apiTokenId = (await call('createApiToken')).json.api_token.api_token_id;
    const apiTokenPath = `/v1/api-tokens/${apiTokenId}`;
    await call('listApiTokens', { path: '/v1/api-tokens?limit=1' });
    await call('rotateApiToken', { path: `${apiTokenPath}/rotate` });
    await call('readApiToken', { path: apiTokenPath });
    await call('revokeApiToken', { path: apiTokenPath });
    await call('whoami', readOnly);
    const endpoint = '/v1/webhook-endpoints/described';
    for (const _ of ['created', 'replaced'])
      await call('putWebhookEndpoint', { path: endpoint, body: ENDPOINT });
    await call('readWebhookEndpoint', { path: endpoint });
    await call('listWebhookEndpoints', { path: '/v1/webhook-endpoints?limit=1' });
    await call('rotateWebhookEndpointSecret', { path: `${endpoint}/rotate` });
    const { event_id } = (await call('testWebhookEndpoint', { path: `${endpoint}/test` })).json;
    await call('listWebhookDeliveries', { path: `${endpoint}/deliveries` });
    await call('readWebhookDelivery', { path: `${endpoint}/deliveries/${event_id}` });
    await call('redeliverWebhook', { path: `${endpoint}/deliveries/${event_id}/redeliver` });
    const failed = { path: `${endpoint}/redeliver-failed`, body: { since: '2026-03-02T09:00:00Z' } };
    await call('redeliverFailedWebhooks', failed);
    await call('readWebhookEndpointHealth', { path: `${endpoint}/health` });
    await call('deleteWebhookEndpoint', { path: endpoint });
    const put = (id: string, body: object) =>
      call('putIntegration', { path: `/v1/integrations/${id}`, body });
    for (const [id, integration] of Object.entries(integrations)) await put(`all-${id}`, integration);
    assert.equal((await put('all-jwt', integrations.jwt)).status, 200);
    await call('readIntegration', { path: '/v1/integrations/all-jwt' });
    await call('listIntegrations', { path: '/v1/integrations?limit=1' });
    const viewed = {
      user_group_id: 'viewed',
      name: 'V',
      mapping: { 40: 1 },
      properties: { region: 'r', seats: 1 },
    };
    await service.get(viewed);
    for (const integration of Object.keys(integrations)) {
      const resource = integration === 'metabase' ? { dashboard: 7 } : undefined;
      const { json } = await call('createEmbedToken', {
        body: { integration: `all-${integration}`, user_group_id: 'viewed', resource },
      });
      if (integration === 'jwt')
        await call('resolveUserGroupToken', { body: { token: json.embed_token.token } });
    }
    await call('deleteIntegration', { path: '/v1/integrations/all-lightdash' });
    for (const _ of ['created', 'replaced']) {
      await call('putSchema', { path: '/v1/schemas/41', body: { name: 'Other' } });
      await call('putDataSource', {
        path: '/v1/data-sources/other',
        body: { schema_id: '41', name: 'Other', attributes: { host: 'db' } },
      });
    }
    await call('readSchema', { path: '/v1/schemas/41' });
    await call('listSchemas', { path: '/v1/schemas' });
    await call('readDataSource', { path: '/v1/data-sources/other' });
    await call('listDataSources', { path: '/v1/data-sources', ...readOnly });
    const mapped = await call('getOrCreateUserGroup', {
      body: { user_group_id: 'mapped', name: 'M', mapping: { 41: 'other', 40: 'gone' } },
    });
    await call('resolveUserGroupToken', { body: { token: mapped.json.user_group.token } });
    const form = new URLSearchParams({ token: mapped.json.user_group.token });
    assert.equal((await call('introspectToken', { body: form })).json.active, true);
    assert.equal((await call('introspectToken')).json.active, false);
    const sourced = { user_group_id: 'sourced', name: 'S', mapping: { 40: 'acme-orders' } };
    const viewer = (await call('getOrCreateUserGroup', { body: sourced })).json.user_group.token;
    await call('deleteDataSource', { path: '/v1/data-sources/other?force=true' });
    await call('deleteSchema', { path: '/v1/schemas/41?force=true' });
    await call('forwardAuth', { headers: { 'x-user-group-token': viewer } });
    for (const mode of ['report', 'off']) {
      const { etag } = (await call('readMappingPolicy')).headers;
      await call('putMappingPolicy', { body: { mode }, headers: { 'if-match': etag! } });
      if (mode === 'off') continue;
      const dangling = { user_group_id: 'dangling', name: 'D', mapping: { 40: 'gone' } };
      const { user_group_id: _, ...fields } = dangling;
      const byId = { path: '/v1/user-groups/dangling', body: { ...fields, mapping: { 40: 'missing' } } };
      for (const { headers } of [
        await call('createUserGroup', { body: dangling }),
        await call('getOrCreateUserGroup', { body: { ...dangling, user_group_id: 'dangling too' } }),
        await call('patchUserGroup', byId),
        await call('updateUserGroup', { body: dangling }),
        await call('replaceUserGroup', byId),
      ])
        assert.equal(headers['user-group-violations'], '/mapping/40');
    }
    await call('readPropertySchema');
    await call('deletePropertySchema');
    for (const _ of ['created', 'replaced'])
      await call('putPropertySchema', { body: { schema: {}, mode: 'off' } });
    await call('readConfig');
    await call('putConfig', { body: { version: 1, mapping_policy: { mode: 'report' } } });
    await call('rotateSigningKeys', { path: '/v1/signing-keys/rotate', body: {} });
    const { jwks_url } = (await call('listSigningKeys', {})).json;
    const [jwks] = /\/issuers\/.*/.exec(jwks_url)!;
    const discovery = jwks.replace('jwks.json', 'openid-configuration');
    for (const [name, path] of [
      ['readKeySet', jwks],
      ['readOpenIdConfiguration', discovery],
    ] as const) {
      const { etag } = (await call(name, { path, token: null })).headers;
      await call(name, { path, token: null, headers: { 'if-none-match': etag! } });
    }
    const publicOperations = description.operations.filter(({ security }) => security.length === 0);
    for (const { operationId } of publicOperations.filter(({ path }) => !path.includes('{')))
      await call(operationId, { token: null });

    const described = description.operations.flatMap((operation) =>
      description.statuses(operation).successes.map((status) => `${operation.operationId} ${status}`),
    );
    assert.deepEqual(seen, new Set(described));
  });

  /**
   * Creates an API token that lacks permission for the operation; returns null if every permission allows it.
   */
  async function tokenWithoutPermission({ operationId }: DescribedOperation): Promise<string | null> {
    const permitted = endpoints.find((each) => each.operationId === operationId)?.permissions ?? permissions;
    const permission = permissions.find((each) => each !== 'admin' && !permitted.includes(each));
    return permission === undefined ? null : (await service.apiToken({ permission })).token;
  }

  // Errors do not depend on the database.
  if (database !== sqlite) return;

  for (const operation of description.operations) {
    it(`for errors, with the codes and titles of the examples: ${operation.operationId}`, async () => {
      const valid = { token: service.token, ...requestOf(operation) };
      const requests = errorRequests(operation);
      requests.permission_denied = { token: await tokenWithoutPermission(operation) };
      if (operation.operationId === 'rotateUserGroupToken') {
        const current_token = (await service.get(EXISTING)).json.user_group.token;
        requests.version_mismatch = { ...requests.version_mismatch, body: { current_token } };
      }
      if (operation.operationId === 'putConfig')
        requests.version_mismatch = { body: { version: 1, config_version: 999_999 } };
      if (operation.operationId === 'createEmbedToken') {
        requests.user_group_not_found = { body: { integration: 'metabase', user_group_id: 'missing' } };
      }
      for (const code of description.errorCodes(operation)) {
        if (requests[code] === undefined) continue;
        const answer = await send(service.url, { ...valid, ...requests[code] });
        description.assertDescribed(operation, answer);
        const example = description.errorExample(operation, code);
        const { success, type, title, status } = answer.json;
        assert.deepEqual(
          { success, type, title, status, code: answer.json.code },
          { success: 0, type: example.type, title: example.title, status: example.status, code },
        );
      }
    });
  }
});

describe('The API description', () => {
  it('has 429 for every operation: a client that was refused too often gets it everywhere', async () => {
    const env = { UGS_FAILED_AUTHENTICATION_LIMIT_PER_MINUTE: '1' };
    await using service = await TestService.start(sqlite, { env });
    await service.call('GET', '/nothing');
    const headers = { origin: 'https://elsewhere.example' };
    const check = async (operation: DescribedOperation): Promise<void> => {
      const answer = await send(service.url, { ...requestOf(operation), token: null, headers });
      assert.equal(answer.status, 429, operation.operationId);
      description.assertDescribed(operation, answer);
    };
    await Promise.all(description.operations.map(check));
  });
});
