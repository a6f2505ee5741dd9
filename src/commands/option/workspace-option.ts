// Options shared by the commands that work on one workspace and environment.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseName as parseConfiguredName } from '../../config.ts';
import { type Caller, operator } from '../../domain/api-token.ts';
import { didYouMean } from '../../domain/suggest.ts';
import { type Environment, environments } from '../../domain/tenant.ts';
import { findWorkspace, hasWorkspaces, suggestWorkspace } from '../../operations/workspace/workspace.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { Workspace } from '../../store/port.ts';
import { NotFound } from '../exit-code.ts';
import {
  type DatabaseOptions,
  type OpenDatabase,
  onDatabase,
  withExistingDatabase,
} from './database-option.ts';

export interface WorkspaceOptions {
  workspace: string;
  environment: Environment;
}

export interface NewWorkspaceOptions extends WorkspaceOptions {
  createWorkspace?: boolean;
}

export function workspaceOption(meaning: string): Option {
  return new Option('--workspace <name>', meaning).makeOptionMandatory().argParser(parseName);
}

export function createWorkspaceOption(): Option {
  return new Option('--create-workspace', 'create the workspace if it does not exist');
}

export function environmentOption(meaning: string): Option {
  return new Option('--environment <environment>', meaning).choices(environments).default('Customer');
}

/** Options of commands that work on one workspace and environment of a database. */
export type PlaceOptions = DatabaseOptions & WorkspaceOptions;

/** Adds the options and the action of a command about `noun`, which is in one workspace and environment. */
export function onPlace<Options extends PlaceOptions, Arguments extends unknown[]>(
  command: Command,
  noun: string,
  work: (place: Place, options: Options, ...args: Arguments) => Promise<void>,
): Command {
  command
    .addOption(workspaceOption(`workspace of ${noun}`))
    .addOption(environmentOption(`environment of ${noun}`));
  return onDatabase(command, async (database, options: Options, ...args: Arguments) =>
    work(await findPlace(database, options), options, ...args),
  );
}

export function parseName(text: string): string {
  try {
    return parseConfiguredName(text);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`);
  }
}

/** Throws `NotFound`. */
export async function existingWorkspace(store: BatchingStore, name: string): Promise<Workspace> {
  const workspace = await findWorkspace(store, name);
  if (workspace === null) throw await unknownWorkspace(store, name);
  return workspace;
}

/** A workspace and environment of a database. */
export interface Place extends OpenDatabase {
  /** The operator. */
  caller: Caller;
}

/** Opens the database, and runs `work` at the place in it. Throws `NotFound`. */
export function atPlace(options: PlaceOptions, work: (place: Place) => Promise<void>): Promise<void> {
  return withExistingDatabase(options, async (database) => work(await findPlace(database, options)));
}

async function findPlace(database: OpenDatabase, options: WorkspaceOptions): Promise<Place> {
  const { workspaceId } = await existingWorkspace(database.store, options.workspace);
  return { ...database, caller: operator({ workspaceId, environment: options.environment }) };
}

/** Throws `NotFound` if the workspace may not be created: all but the first require --create-workspace. */
export async function refuseUnknownWorkspace(
  store: BatchingStore,
  { workspace: name, createWorkspace = false }: NewWorkspaceOptions,
): Promise<void> {
  if (createWorkspace || (await findWorkspace(store, name)) !== null) return;
  if (await hasWorkspaces(store))
    throw await unknownWorkspace(store, name, ', or create it with --create-workspace');
}

/** `hint` names an alternative to choosing an existing workspace. */
export async function unknownWorkspace(store: BatchingStore, name: string, hint = ''): Promise<NotFound> {
  const suggestion = didYouMean(await suggestWorkspace(store, name));
  return new NotFound(
    `workspace ${name} does not exist${suggestion}; run "workspace list" to see all workspaces${hint}`,
  );
}
