// Records when tokens were last used, to the hour: collected in memory, written in batches, off the path of responses.
// A crash loses at most what was collected since the last write.

import type { ApiToken } from '../../domain/api-token.ts';
import { keyToString, type UserGroup } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { SeenUserGroup } from '../../store/port.ts';

const HOUR_MS = 3_600_000;
const WRITE_AFTER_MS = 5_000;
/** Further uses are recorded when the token is used again. */
const MAX_COLLECTED = 100_000;
const BATCH = 256;

export class Usage {
  readonly #store: BatchingStore;
  #groups = new Map<string, SeenUserGroup>();
  #apiTokens = new Set<number>();
  #hour = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(store: BatchingStore) {
    this.#store = store;
  }

  resolved(userGroup: UserGroup, now: number): void {
    if (!this.#isStale(userGroup.lastSeenAt, now) || this.#groups.size >= MAX_COLLECTED) return;
    const { bucket, workspaceId, environment, providedId, teamId } = userGroup;
    const key = { bucket, workspaceId, environment, providedId };
    this.#groups.set(keyToString(key), { key, teamId });
    this.#writeLater();
  }

  authenticated({ apiTokenId, lastUsedAt }: ApiToken, now: number): void {
    if (!this.#isStale(lastUsedAt, now) || this.#apiTokens.size >= MAX_COLLECTED) return;
    this.#apiTokens.add(apiTokenId);
    this.#writeLater();
  }

  /** Writes what was collected. Failures are ignored: the next use is collected again. */
  async write(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const [groups, apiTokens, at] = [[...this.#groups.values()], [...this.#apiTokens], this.#hour];
    this.#groups = new Map();
    this.#apiTokens = new Set();
    this.#writing = this.#writing.then(() => this.#writeAll(groups, apiTokens, at)).catch(() => {});
    await this.#writing;
  }

  async #writeAll(groups: SeenUserGroup[], apiTokenIds: number[], at: number): Promise<void> {
    for (const batch of batches(apiTokenIds))
      await this.#store.write({ kind: 'markApiTokensUsed', apiTokenIds: batch, at });
    for (const userGroups of batches(groups)) await this.#store.write({ kind: 'markSeen', userGroups, at });
  }

  /** `last` is rounded down to the hour. */
  #isStale(last: number | null, now: number): boolean {
    if (last !== null && last > now - HOUR_MS) return false;
    const hour = now - (now % HOUR_MS);
    // Uses collected in the hour before are written as of that hour.
    if (hour !== this.#hour && this.#timer !== null) void this.write();
    this.#hour = hour;
    return true;
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => void this.write(), WRITE_AFTER_MS).unref();
  }
}

function batches<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / BATCH) }, (_, index) =>
    items.slice(index * BATCH, (index + 1) * BATCH),
  );
}
