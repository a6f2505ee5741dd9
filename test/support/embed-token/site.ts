// A service with integrations, for tests of embed tokens.

import assert from 'node:assert/strict';
import { before } from 'node:test';
import type { IntegrationType } from '../../../src/domain/integration.ts';
import { userGroupKey } from '../../../src/domain/user-group/user-group.ts';
import type { DatabaseKind } from '../database.ts';
import type { TestResponse } from '../http.ts';
import { served } from '../process.ts';
import { TestService, type TestServiceOptions } from '../service.ts';

/** Secret that no tool uses. */
export const SECRET = 'The-secret_of.the+tool/0123456789abcdef';
export const DASHBOARD = '0e4e0b4c-8d5c-4a3a-9f5e-2f1a7b6c5d4e';

export const integrations = {
  jwt: {
    type: 'jwt',
    settings: { audience: 'cube', properties: ['region', 'plan', 'seats'], large_numbers: 'number' },
    claims: { tenant: { field: 'provided_id' }, region: { property: 'region' } },
  },
  metabase: {
    type: 'metabase',
    secret: SECRET,
    settings: {
      url: 'https://metabase.example.com/',
      resources: [{ dashboard: 7 }, { question: 9 }],
      properties: ['region'],
    },
    claims: { region: { property: 'region' }, source: { mapping: '40' }, tier: { constant: [1.5, 'a'] } },
  },
  superset: {
    type: 'superset',
    secret: SECRET,
    settings: {
      audience: 'superset',
      resources: [{ type: 'dashboard', id: DASHBOARD }],
      row_level_security: [
        { dataset: 12, column: 'customer', value: { field: 'name' } },
        { all_datasets: true, column: 'source', type: 'number', value: { mapping: '40' } },
      ],
      string_escapes: 'standard',
    },
  },
  lightdash: {
    type: 'lightdash',
    secret: SECRET,
    settings: {
      resources: [{ dashboardSlug: 'revenue' }],
      options: { canExportCsv: true },
      properties: ['seats'],
    },
    claims: { customer: { field: 'provided_id' }, seats: { property: 'seats' } },
  },
} as const satisfies Record<IntegrationType, object>;

export const acme = {
  user_group_id: 'acme/7 (Brien\u00fc)',
  name: "Acme 'O''Brien\u00fc",
  mapping: { '40': 213, '41': 'own' },
  properties: { region: 'EMEA', plan: 'gold', seats: 9007199254740993n, private: 'not for tools' },
};

/** JSON text that keeps the digits of its numbers. */
export const acmeText = JSON.stringify(acme, (_key, value) =>
  typeof value === 'bigint' ? '@' : value,
).replace('"@"', '9007199254740993');

export class EmbedSite implements AsyncDisposable {
  readonly service: TestService;
  /** API tokens. */
  admin = '';
  embed = '';

  /** Returns the site of the tests of a `describe`. */
  static of(database: DatabaseKind, options: TestServiceOptions = {}): EmbedSite {
    const site = new EmbedSite(TestService.of(database, options));
    before(() => site.#createApiTokens());
    return site;
  }

  static async start(database: DatabaseKind, options: TestServiceOptions = {}): Promise<EmbedSite> {
    const site = new EmbedSite(await TestService.start(database, options));
    await site.#createApiTokens();
    return site;
  }

  async #createApiTokens(): Promise<void> {
    this.admin = (await this.service.apiToken({ permission: 'admin' })).token;
    this.embed = (await this.service.apiToken({ permission: 'embed' })).token;
  }

  private constructor(service: TestService) {
    this.service = service;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.service.end();
  }

  /** Time of the service's clock. */
  get now(): number {
    return Date.now() + this.service.clockAheadMs;
  }

  asAdmin(method: string, path: string, body?: unknown, headers = {}): Promise<TestResponse> {
    return this.service.call(method, path, body, { token: this.admin, headers });
  }

  put(id: string, integration: unknown, headers = {}): Promise<TestResponse> {
    return this.asAdmin('PUT', `/v1/integrations/${encodeURIComponent(id)}`, integration, headers);
  }

  async create(id: string, integration: unknown): Promise<void> {
    const created = await served(() => this.put(id, integration));
    assert.ok(created.status < 300, created.text);
  }

  async putAll(): Promise<void> {
    for (const [id, integration] of Object.entries(integrations)) await this.create(id, integration);
  }

  mint(body: object, token = this.embed): Promise<TestResponse> {
    return this.service.call('POST', '/v1/embed-tokens', body, { token });
  }

  /** Mints a token, which must succeed. */
  async token(integration: string, more: object = {}): Promise<string> {
    const body = { integration, user_group_id: acme.user_group_id, ...more };
    const minted = await served(() => this.mint(body));
    assert.equal(minted.status, 201, minted.text);
    return minted.json.embed_token.token;
  }

  async createGroup(group: string | object = acmeText): Promise<string> {
    return (await this.service.get(group)).json.user_group.token;
  }

  /** Suspends or resumes the group with the id. */
  async suspend(userGroupId: string, isSuspended = true): Promise<void> {
    const { store, clock } = this.service.app.context;
    const key = userGroupKey({ workspaceId: 1, environment: 'Customer' }, userGroupId);
    const suspendedAt = isSuspended ? clock() : null;
    await store.write({ kind: 'updateUserGroup', key, suspendedAt, now: clock() });
  }

  async keySet(): Promise<TestResponse> {
    const { jwks_url } = (await this.asAdmin('GET', '/v1/signing-keys')).json;
    const [path] = /\/issuers\/.*/.exec(jwks_url)!;
    return this.service.call('GET', path, undefined, { token: null });
  }
}
