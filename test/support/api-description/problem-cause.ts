// Causes every error response.

import { before } from 'node:test';
import { limits } from '../../../src/domain/field.ts';
import type { ProblemCode } from '../../../src/problem.ts';
import { copyApiToken } from '../api-token.ts';
import { exchangeOne } from '../connection/raw-connection.ts';
import type { DatabaseKind } from '../database.ts';
import type { TestResponse } from '../http.ts';
import { served } from '../process.ts';
import { TestService } from '../service.ts';
import { runSql } from '../sql.ts';

interface Services {
  service: TestService;
  /** Answers one request per minute of each API token. */
  limited: TestService;
  /** Cannot read user groups. */
  broken: TestService;
}

/** Returns the services of a suite that cause errors. */
export function servicesOf(database: DatabaseKind): Services {
  const env = { UGS_RATE_LIMIT_PER_MINUTE: '1', UGS_SHUTDOWN_DELAY_MS: '500' };
  const service = TestService.of(database);
  const limited = TestService.of(database, { env });
  const broken = TestService.of(database, { returnsOverloaded: true });
  before(() => runSql(broken.database, 'alter table user_groups rename column mapping to elsewhere'));
  return { service, limited, broken };
}

/** Mints a token for a tool that needs the property `region` of the group, as a text. */
async function mint(
  service: TestService,
  group: { user_group_id: string; name: string; properties?: object },
): Promise<TestResponse> {
  await service.get(group);
  const { token } = await service.apiToken({ permission: 'admin' });
  const integration = {
    type: 'metabase',
    secret: 'a-secret-of-metabase',
    settings: { url: 'https://metabase.example', resources: [{ dashboard: 1 }], properties: ['region'] },
    claims: { region: { property: 'region' } },
  };
  await served(() => service.call('PUT', '/v1/integrations/causes', integration, { token }));
  const { user_group_id } = group;
  return service.call('POST', '/v1/embed-tokens', { integration: 'causes', user_group_id }, { token });
}

/** Requests that cause each error code. A code that cannot be caused must not exist. */
export const causes = (database: DatabaseKind, { service, limited, broken }: Services) =>
  ({
    invalid_json: () => service.get('{'),
    invalid_request: () => service.get({ user_group_id: 7 }),
    unknown_field: () => service.get({ user_group_id: 'a', colour: 'red' }),
    body_missing: () => service.get(undefined),
    unauthenticated: () => service.get({}, { token: null }),
    viewer_unauthenticated: () => service.forwardAuth({}),
    user_group_not_forwardable: async () => {
      const { token } = await service.apiToken({ permission: 'admin', workspaceName: 'catalogue' });
      await service.call('PUT', '/v1/schemas/40', { name: 'Orders' }, { token });
      const group = { user_group_id: 'dangling', name: 'D', mapping: { 40: 'gone' } };
      const viewer = (await service.get(group, { token })).json.user_group.token;
      return service.forwardAuth({ 'x-user-group-token': viewer }, token);
    },
    permission_denied: async () => {
      const { token } = await service.apiToken({ permission: 'resolve' });
      return service.get({}, { token });
    },
    origin_not_allowed: () => service.get({}, { headers: { origin: 'https://evil.example.com' } }),
    user_group_not_found: () => service.get({ user_group_id: 'missing' }),
    user_group_token_not_found: () => service.resolve('unknown'),
    api_token_not_found: async () => {
      const { token } = await service.apiToken({ permission: 'admin' });
      return service.call('GET', '/v1/api-tokens/999999999', undefined, { token });
    },
    api_token_inactive: async () => {
      const { id } = await service.apiToken();
      const { token } = await service.apiToken({ permission: 'admin' });
      await service.revokeApiToken(id);
      return service.call('POST', `/v1/api-tokens/${id}/rotate`, {}, { token });
    },
    user_group_exists: async () => {
      for (const id of ['taken', 'taker']) await service.get({ user_group_id: id, name: id });
      return service.call('POST', '/v1/user-groups/taker/rename', { user_group_id: 'taken' });
    },
    limit_reached: async () => {
      const { id, token } = await service.apiToken({ permission: 'admin', workspaceName: 'full' });
      await copyApiToken(service.database, id, limits.activeApiTokens);
      const body = { name: 'one more', permission: 'resolve' };
      return service.call('POST', '/v1/api-tokens', body, { token });
    },
    not_found: () => service.call('GET', '/nothing'),
    method_not_allowed: () => service.call('TRACE', '/api/user'),
    request_timeout: async () => {
      await using slow = await TestService.start(database, { env: { UGS_HEADERS_TIMEOUT_MS: '200' } });
      return await exchangeOne(slow, 'GET /api/user HT');
    },
    version_mismatch: async () => {
      await service.get({ user_group_id: 'version', name: 'V' });
      return service.put({ user_group_id: 'version' }, { headers: { 'if-match': '"other"' } });
    },
    body_too_large: () => service.get(' '.repeat(256 * 1024 + 1)),
    unsupported_media_type: () => service.get({}, { headers: { 'content-type': 'text/plain' } }),
    claim_missing: () => mint(service, { user_group_id: 'no-region', name: 'N' }),
    claim_invalid: () =>
      mint(service, { user_group_id: 'odd-region', name: 'O', properties: { region: { a: 1 } } }),
    rate_limited: async () => {
      await limited.resolve('unknown');
      return limited.resolve('unknown');
    },
    headers_too_large: () => exchangeOne(service, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
    internal_error: () => broken.get({ user_group_id: 'a' }),
    not_implemented: () => exchangeOne(service, 'BREW /api/user HTTP/1.1\r\nHost: a\r\n\r\n'),
    overloaded: async () => {
      const env = { UGS_QUEUE_LIMIT: '1' };
      await using busy = await TestService.start(database, { env, returnsOverloaded: true });
      const ids = Array.from({ length: 200 }, (_, index) => `group-${index}`);
      const responses = await Promise.all(ids.map((id) => busy.get({ user_group_id: id, name: id })));
      return responses.find(({ json }) => json.code === 'overloaded')!;
    },
    mapping_invalid: async () => {
      const { token } = await service.apiToken({ permission: 'admin', environment: 'Testing' });
      await service.call('PUT', '/v1/mapping-policy', { mode: 'enforce' }, { token });
      return service.get({ user_group_id: 'a', name: 'A', mapping: { 40: 1 } }, { token });
    },
    properties_invalid: async () => {
      const { token } = await service.apiToken({ permission: 'admin', environment: 'Testing' });
      const schema = { required: ['plan'] };
      const rule = { schema, mode: 'enforce' };
      await served(() => service.call('PUT', '/v1/property-schema', rule, { token }));
      return service.get({ user_group_id: 'a', name: 'A' }, { token });
    },
    in_use: async () => {
      const { token } = await service.apiToken({ permission: 'admin' });
      const dataSource = { schema_id: 'used', name: 'Used', attributes: {} };
      await service.call('PUT', '/v1/data-sources/used', dataSource, { token });
      await service.get({ user_group_id: 'user', name: 'User', mapping: { used: 'used' } });
      return service.call('DELETE', '/v1/data-sources/used', undefined, { token });
    },
    database_unavailable: async () => {
      await service.get({ user_group_id: 'unreadable', name: 'U' });
      await runSql(
        service.database,
        "update user_groups set token_ciphertext = 'damaged' where provided_id = 'unreadable'",
      );
      return service.get({ user_group_id: 'unreadable' });
    },
    shutting_down: async () => {
      const stopped = limited.stop();
      try {
        return await limited.call('GET', '/readyz');
      } finally {
        await stopped;
        await limited.startApp();
      }
    },
  }) satisfies Record<ProblemCode, () => Promise<TestResponse>>;
