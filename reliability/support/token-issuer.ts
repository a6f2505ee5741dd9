// Creates API tokens for the rigs inside their own process, because the command takes a hundred times as
// long.

import { commandContext } from '../../src/commands/command-context.ts';
import { readConfig } from '../../src/config.ts';
import { type CommandDatabase, openForCommand } from '../../src/database.ts';
import { operator, type Permission } from '../../src/domain/api-token.ts';
import type { Environment } from '../../src/domain/tenant.ts';
import {
  createApiToken,
  findApiTokenById,
  revokeApiToken,
} from '../../src/operations/api-token/api-token.ts';
import type { TestDatabase } from '../../test/support/database.ts';
import { PATIENT } from '../../test/support/process.ts';

export interface TokenIssuer {
  create(
    workspaceName: string,
    environment: Environment,
    permission?: Permission,
  ): Promise<{ id: number; token: string }>;
  revoke(id: number): Promise<unknown>;
}

export class DatabaseTokenIssuer implements TokenIssuer, AsyncDisposable {
  readonly #database: CommandDatabase;

  static async open({ env }: TestDatabase): Promise<DatabaseTokenIssuer> {
    return new DatabaseTokenIssuer(await openForCommand(readConfig({ ...env, ...PATIENT })));
  }

  private constructor(database: CommandDatabase) {
    this.#database = database;
  }

  async create(workspaceName: string, environment: Environment, permission: Permission = 'read-write') {
    const fields = { workspaceName, environment, permission };
    const { apiToken, token } = await createApiToken(this.#context, fields);
    return { id: apiToken.apiTokenId, token: token.reveal() };
  }

  async revoke(id: number): Promise<boolean> {
    const context = this.#context;
    const apiToken = await findApiTokenById(context.store, id);
    if (apiToken === null) return false;
    await revokeApiToken(context, operator(apiToken), id);
    return true;
  }

  get #context() {
    return commandContext({ ...this.#database, config: readConfig({}) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database.close();
  }
}
