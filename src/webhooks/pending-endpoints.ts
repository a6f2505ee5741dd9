// Finds the endpoints that have pending deliveries. Workspaces take turns, so that one with many endpoints
// does not delay the retries of the others.

import { type EndpointPosition, startOfWorkspace } from '../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { PendingEndpoint } from '../store/port.ts';

/** Maximum number of lookups per call, besides those that find workspaces. */
const MAX_LOOKUPS = 256;
/** Maximum number of workspaces per call; the next call continues after them. */
const MAX_WORKSPACES = 128;

export class PendingEndpoints {
  readonly #store: BatchingStore;
  /** Workspace with which the next call starts. */
  #workspaceId = 0;
  /** Last visited endpoint of each workspace that may have more. */
  readonly #visited = new Map<number, EndpointPosition>();

  constructor(store: BatchingStore) {
    this.#store = store;
  }

  /**
   * Visits some of the endpoints with pending deliveries; the next call continues after them. Returns false
   * if there are none at all.
   */
  async visit(visitor: (pending: PendingEndpoint) => void): Promise<boolean> {
    const isStart = this.#workspaceId === 0;
    const turns = await this.#findWorkspaces();
    if (isStart && turns.length === 0) return false;
    let lookups = 0;
    // A workspace with more endpoints gets another turn after the others.
    for (const workspaceId of turns) {
      if (++lookups > MAX_LOOKUPS) break;
      const pending = await this.#next(workspaceId);
      if (pending === null) continue;
      visitor(pending);
      turns.push(workspaceId);
    }
    return true;
  }

  async #findWorkspaces(): Promise<number[]> {
    const found: number[] = [];
    while (found.length < MAX_WORKSPACES) {
      const pending = await this.#after(startOfWorkspace(this.#workspaceId));
      this.#workspaceId = pending === null ? 0 : pending.endpoint.workspaceId + 1;
      if (pending === null) break;
      found.push(pending.endpoint.workspaceId);
    }
    return found;
  }

  /** Returns null after the last endpoint of the workspace, and then starts again with its first. */
  async #next(workspaceId: number): Promise<PendingEndpoint | null> {
    const pending = await this.#after(this.#visited.get(workspaceId) ?? startOfWorkspace(workspaceId));
    if (pending?.endpoint.workspaceId === workspaceId) {
      this.#visited.set(workspaceId, pending.endpoint);
      return pending;
    }
    this.#visited.delete(workspaceId);
    return null;
  }

  #after(after: EndpointPosition): Promise<PendingEndpoint | null> {
    return this.#store.read({ kind: 'findPendingEndpoint', after });
  }
}
