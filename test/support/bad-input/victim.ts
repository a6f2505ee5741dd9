// Service with a user group, and a way to check that none of its rows has changed.

import { before } from 'node:test';
import type { DatabaseKind } from '../database.ts';
import { PATIENT, WITHOUT_FAILURE_LIMIT } from '../process.ts';
import { TestService } from '../service.ts';

const SETTINGS = { ...WITHOUT_FAILURE_LIMIT, ...PATIENT };

export class Victim {
  readonly service: TestService;
  /** Id of a group to which the API token of `service` has full access. */
  readonly id: string = 'present';
  /** API token that may only read. */
  readOnly = '';

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
    this.readOnly = (await this.service.apiToken({ permission: 'read-only' })).token;
    const stored = { mapping: { 40: '213' }, properties: { plan: 'gold' } };
    await this.service.get({ user_group_id: this.id, name: 'Present', ...stored });
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
