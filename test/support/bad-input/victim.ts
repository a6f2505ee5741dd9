// Service with groups and API tokens in two workspaces and both environments, and a way to check that none of
// their rows has changed.

import { before } from 'node:test';
import type { DatabaseKind } from '../database.ts';
import { PATIENT, WITHOUT_FAILURE_LIMIT } from '../process.ts';
import { TestService } from '../service.ts';

const SETTINGS = { ...WITHOUT_FAILURE_LIMIT, ...PATIENT };

export class Victim {
  readonly service: TestService;
  /** Id of a group to which the API token of `service` has full access. */
  readonly id: string = 'present';
  /** Current token of that group. */
  token = '';
  /** Initial entity tag of that group. */
  etag = '';
  /** Stored tokens to which the API token of `service` has no access. */
  readonly foreign = { testing: '', workspace: '' };
  readonly apiTokens = { testing: '', workspace: '', readOnly: '', resolve: '', revoked: '', expired: '' };

  /** Returns the victim of a suite, which runs from before its tests until after them. */
  static of(database: DatabaseKind, env: Record<string, string> = {}): Victim {
    const victim = new Victim(TestService.of(database, { env: { ...SETTINGS, ...env } }));
    before(() => victim.#create());
    return victim;
  }

  static async start(database: DatabaseKind): Promise<Victim> {
    const victim = new Victim(await TestService.start(database, { env: SETTINGS }));
    await victim.#create();
    return victim;
  }

  private constructor(service: TestService) {
    this.service = service;
  }

  async #create(): Promise<void> {
    await this.#createApiTokens();
    await this.#createUserGroups();
  }

  async #createApiTokens(): Promise<void> {
    const { service, apiTokens } = this;
    apiTokens.testing = (await service.apiToken({ environment: 'Testing' })).token;
    apiTokens.workspace = (await service.apiToken({ workspaceName: 'other' })).token;
    apiTokens.readOnly = (await service.apiToken({ permission: 'read-only' })).token;
    apiTokens.resolve = (await service.apiToken({ permission: 'resolve' })).token;
    apiTokens.expired = (await service.apiToken({ expiresAt: Date.now() - 1 })).token;
    const revoked = await service.apiToken();
    await service.revokeApiToken(revoked.id);
    apiTokens.revoked = revoked.token;
  }

  async #createUserGroups(): Promise<void> {
    const create = async (token: string) => {
      const { json, headers } = await this.service.get({ ...storedGroup, user_group_id: this.id }, { token });
      return { token: json.user_group.token as string, etag: headers.etag ?? '' };
    };
    Object.assign(this, await create(this.service.token));
    this.foreign.testing = (await create(this.apiTokens.testing)).token;
    this.foreign.workspace = (await create(this.apiTokens.workspace)).token;
  }

  /** Returns all rows that a request could change, without the last use of their tokens. */
  async rows(): Promise<object> {
    const { store } = this.service.app.context;
    const userGroups = await store.read({ kind: 'scanUserGroups', after: null, limit: 1_000 });
    const apiTokens = await store.read({ kind: 'listApiTokens', tenant: null, after: 0, limit: 1_000 });
    return {
      userGroups: userGroups.map((userGroup) => ({ ...userGroup, lastSeenAt: null })),
      apiTokens: apiTokens.map((apiToken) => ({ ...apiToken, lastUsedAt: null })),
    };
  }

  /** Returns the log lines of internal and database errors. */
  errorsLogged(): string[] {
    return this.service.logLines.filter((line) => JSON.parse(line).level >= LOG_LEVEL_ERROR);
  }

  end(): Promise<void> {
    return this.service.end();
  }
}

const LOG_LEVEL_ERROR = 50;

/** Stored fields, so that a request that repeats them changes nothing. */
export const storedGroup = { name: 'Present', mapping: { 40: '213' }, properties: { plan: 'gold' } };
