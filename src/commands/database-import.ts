// An import into a database.

import type { Config } from '../config.ts';
import { type CommandDatabase, MAX_BATCH } from '../database.ts';
import { type Caller, operator } from '../domain/api-token.ts';
import type { Environment } from '../domain/user-group/user-group.ts';
import type { Context } from '../operations/context.ts';
import { atCurrentConfig, EnvironmentConfig } from '../operations/document/environment-config.ts';
import { PropertyValidator } from '../operations/property-schema/validator/validator.ts';
import { allUserGroupPages } from '../operations/user-group/export.ts';
import { ensureWorkspace, findWorkspace } from '../operations/workspace/workspace.ts';
import { Problem } from '../problem.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import { contextWithKeys } from './command-context.ts';
import type { ImportTarget, StartBatch } from './import-target.ts';
import type { WorkspaceOptions } from './workspace-option.ts';

export class DatabaseTarget implements ImportTarget {
  readonly concurrency = MAX_BATCH;
  readonly #store: BatchingStore;
  readonly #config: Config;
  readonly #workspace: string;
  readonly #environment: Environment;
  readonly #replaces: boolean;
  readonly #propertyValidator = new PropertyValidator();
  #started: { context: Context; caller: Caller } | null = null;

  constructor(
    { store }: CommandDatabase,
    config: Config,
    { workspace, environment }: WorkspaceOptions,
    replaces: boolean,
  ) {
    this.#store = store;
    this.#config = config;
    this.#workspace = workspace;
    this.#environment = environment;
    this.#replaces = replaces;
  }

  async preview(): Promise<StartBatch> {
    const store = this.#store;
    const workspace = await findWorkspace(store, this.#workspace);
    const tenant = workspace && { workspaceId: workspace.workspaceId, environment: this.#environment };
    const found = tenant && (await store.read({ kind: 'findConfig', tenant }));
    const rules = new EnvironmentConfig(found?.version ?? 0, found?.documents ?? []);
    const context = { store, propertyValidator: this.#propertyValidator };
    const { previewLine } = await import('../operations/user-group/import.ts');
    return async () => (line) => previewLine({ context, tenant, rules, replaces: this.#replaces }, line);
  }

  async start(): Promise<StartBatch> {
    const store = this.#store;
    const propertyValidator = this.#propertyValidator;
    const context = { ...(await contextWithKeys(store, this.#config)), propertyValidator };
    const { workspace, created } = await ensureWorkspace(store, this.#workspace, Date.now());
    if (created) console.error(`Created workspace ${this.#workspace}.`);
    const caller = operator(workspace.workspaceId, this.#environment);
    this.#started = { context, caller };
    // Imported on demand: compiling its validators takes as long as starting any other command.
    const { importLine } = await import('../operations/user-group/import.ts');
    return async () => {
      const job = { context, caller: await atCurrentConfig(store, caller), replaces: this.#replaces };
      return (line) => importLine(job, line);
    };
  }

  async *ids(): AsyncGenerator<string[]> {
    const workspace = await findWorkspace(this.#store, this.#workspace);
    if (workspace === null) return;
    for await (const page of allUserGroupPages(this.#store, { ...workspace, environment: this.#environment }))
      yield page.map(({ providedId }) => providedId);
  }

  async remove(id: string): Promise<boolean> {
    const { context, caller } = this.#started!;
    const { deleteUserGroup } = await import('../operations/user-group/delete.ts');
    try {
      await deleteUserGroup(context, caller, id, undefined);
      return true;
    } catch (error) {
      // A concurrent call has deleted it.
      if (error instanceof Problem && error.code === 'user_group_not_found') return false;
      throw error;
    }
  }

  async finish(): Promise<void> {
    // Statistics affect only query plans, and the database gathers them automatically later.
    await this.#store.write({ kind: 'gatherStatistics' }).catch(() => {});
  }

  /** Ends the threads of the validator, which would keep the process running. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#propertyValidator[Symbol.asyncDispose]();
  }
}
