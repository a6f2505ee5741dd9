// Names of workspaces, for the header of every page. They are labels that decide nothing, and may be some
// seconds old, so that pages need no further query.

import type { Caller } from '../domain/api-token.ts';
import { readOwnApiToken } from '../operations/api-token/api-token.ts';
import type { Context } from '../operations/context.ts';

const MAX_AGE_MS = 10_000;
const MAX_NAMES = 1_000;

export class WorkspaceNames {
  readonly #names = new Map<number, { name: string; readAt: number }>();

  async of(context: Context, caller: Caller): Promise<string> {
    const { workspaceId } = caller;
    const now = performance.now();
    const kept = this.#names.get(workspaceId);
    if (kept !== undefined && now - kept.readAt < MAX_AGE_MS) return kept.name;
    const { workspaceName: name } = await readOwnApiToken(context, caller);
    if (this.#names.size === MAX_NAMES) this.#names.clear();
    this.#names.set(workspaceId, { name, readAt: now });
    return name;
  }
}
