// Options shared by the commands that work on one workspace and environment.

import { InvalidArgumentError, Option } from 'commander';
import { parseName as parseConfiguredName } from '../config.ts';
import { type Environment, environments } from '../domain/user-group/user-group.ts';
import { findWorkspace, hasWorkspaces, suggestWorkspace } from '../operations/workspace/workspace.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import { NotFound } from './exit-code.ts';

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

export function parseName(text: string): string {
  try {
    return parseConfiguredName(text);
  } catch (error) {
    throw new InvalidArgumentError(`It ${(error as Error).message}.`);
  }
}

/** For commands that create workspaces: all but the first need --create-workspace. Throws `NotFound`. */
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
  const suggestion = await suggestWorkspace(store, name);
  const didYouMean = suggestion === null ? '' : ` (did you mean ${suggestion}?)`;
  return new NotFound(
    `workspace ${name} does not exist${didYouMean}; run "workspace list" to see all workspaces${hint}`,
  );
}
