// Imports into a database.

import { MAX_BATCH } from '../../database.ts';
import { type Caller, operator } from '../../domain/api-token.ts';
import type { Tenant } from '../../domain/tenant.ts';
import { versionTag } from '../../domain/user-group/user-group.ts';
import type { Context } from '../../operations/context.ts';
import { atCurrentConfig, EnvironmentConfig } from '../../operations/document/environment-config.ts';
import { deleteUserGroup } from '../../operations/user-group/delete.ts';
import { allUserGroupPages } from '../../operations/user-group/export.ts';
import { importLine, previewLine } from '../../operations/user-group/import.ts';
import { ensureWorkspace, findWorkspace } from '../../operations/workspace/workspace.ts';
import { Problem } from '../../problem.ts';
import type { Workspace } from '../../store/port.ts';
import { contextWithKeys } from '../command-context.ts';
import type { OpenDatabase } from '../option/database-option.ts';
import type { WorkspaceOptions } from '../option/workspace-option.ts';
import type { ExistingUserGroup, ImportSettings, ImportTarget, StartBatch } from './import-target.ts';

export class DatabaseTarget implements ImportTarget {
  readonly concurrency = MAX_BATCH;
  readonly #database: OpenDatabase;
  readonly #place: WorkspaceOptions;
  readonly #settings: ImportSettings;
  #started: { context: Context; caller: Caller } | null = null;

  constructor(database: OpenDatabase, place: WorkspaceOptions, settings: ImportSettings) {
    this.#database = database;
    this.#place = place;
    this.#settings = settings;
  }

  async preview(): Promise<StartBatch> {
    const { store } = this.#database;
    const { propertyValidator, replaces } = this.#settings;
    const workspace = await findWorkspace(store, this.#place.workspace);
    const tenant = workspace && this.#tenant(workspace);
    const rules = tenant ? await EnvironmentConfig.read(store, tenant) : EnvironmentConfig.empty;
    const context = { store, propertyValidator };
    return async () => (line) => previewLine({ context, tenant, rules, replaces }, line);
  }

  async start(): Promise<StartBatch> {
    const { store } = this.#database;
    const { propertyValidator, replaces } = this.#settings;
    const context = { ...(await contextWithKeys(this.#database)), propertyValidator };
    const { workspace, created } = await ensureWorkspace(store, this.#place.workspace, Date.now());
    if (created) console.error(`Created workspace ${this.#place.workspace}.`);
    const caller = operator(this.#tenant(workspace));
    this.#started = { context, caller };
    return async () => {
      const job = { context, caller: await atCurrentConfig(store, caller), replaces };
      return (line) => importLine(job, line);
    };
  }

  async *userGroups(): AsyncGenerator<ExistingUserGroup[]> {
    const { store } = this.#database;
    const workspace = await findWorkspace(store, this.#place.workspace);
    if (workspace === null) return;
    for await (const page of allUserGroupPages(store, this.#tenant(workspace)))
      yield page.map((userGroup) => ({
        id: userGroup.providedId,
        updatedAt: userGroup.updatedAt,
        version: versionTag(userGroup),
      }));
  }

  async remove({ id, version }: ExistingUserGroup): ReturnType<ImportTarget['remove']> {
    const { context, caller } = this.#started!;
    try {
      await deleteUserGroup(context, caller, id, { ifMatch: [version] });
      return 'deleted';
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'user_group_not_found') return 'not_found';
      if (error.code === 'version_mismatch') return 'version_mismatch';
      throw error;
    }
  }

  async finish(): Promise<void> {
    // Statistics affect only query plans, and the database gathers them automatically later.
    await this.#database.store.write({ kind: 'gatherStatistics' }).catch(() => {});
  }

  #tenant({ workspaceId }: Workspace): Tenant {
    return { workspaceId, environment: this.#place.environment };
  }
}
