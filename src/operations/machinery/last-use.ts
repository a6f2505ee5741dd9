// Records when tokens were last used, to the hour.

import type { ApiToken } from '../../domain/api-token.ts';
import { HOUR_MS } from '../../domain/instant.ts';
import { keyToString, type UserGroup } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { SeenUserGroup } from '../../store/port.ts';
import { chunks } from '../pages.ts';
import { DelayedWrite, WRITE_BATCH } from './delayed-write.ts';

const WRITE_AFTER_MS = 5_000;
/** Maximum number of groups, and of API tokens, in memory; others are recorded when they are used again. */
const MAX_COLLECTED = 100_000;

interface Used {
  userGroups: SeenUserGroup[];
  apiTokenIds: number[];
  at: number;
}

export class LastUse {
  readonly #store: BatchingStore;
  readonly #delayed: DelayedWrite<Used>;
  #groups = new Map<string, SeenUserGroup>();
  #apiTokens = new Set<number>();
  #hour = 0;

  constructor(store: BatchingStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#delayed = new DelayedWrite(
      { take: () => this.#take(), write: (used) => this.#write(used), onError },
      WRITE_AFTER_MS,
    );
  }

  resolved(userGroup: UserGroup, now: number): void {
    if (!isStale(userGroup.lastSeenAt, now)) return;
    this.#enterHour(now);
    if (this.#groups.size >= MAX_COLLECTED) return;
    const { bucket, workspaceId, environment, providedId, teamId } = userGroup;
    const key = { bucket, workspaceId, environment, providedId };
    this.#groups.set(keyToString(key), { key, teamId });
    this.#delayed.schedule();
  }

  authenticated({ apiTokenId, lastUsedAt }: ApiToken, now: number): void {
    if (!isStale(lastUsedAt, now)) return;
    this.#enterHour(now);
    if (this.#apiTokens.size >= MAX_COLLECTED) return;
    this.#apiTokens.add(apiTokenId);
    this.#delayed.schedule();
  }

  /** Writes what was collected. Uses whose write fails are collected again with the next use. */
  write(): Promise<void> {
    return this.#delayed.now();
  }

  #take(): Used {
    const used = {
      userGroups: [...this.#groups.values()],
      apiTokenIds: [...this.#apiTokens],
      at: this.#hour,
    };
    this.#groups = new Map();
    this.#apiTokens = new Set();
    return used;
  }

  async #write({ userGroups, apiTokenIds, at }: Used): Promise<void> {
    for (const apiTokens of chunks(apiTokenIds, WRITE_BATCH))
      await this.#store.write({ kind: 'markApiTokensUsed', apiTokenIds: apiTokens, at });
    for (const seen of chunks(userGroups, WRITE_BATCH))
      await this.#store.write({ kind: 'markSeen', userGroups: seen, at });
  }

  /** Writes uses that were collected in the previous hour as of that hour. */
  #enterHour(now: number): void {
    const hour = now - (now % HOUR_MS);
    if (hour !== this.#hour && this.#delayed.isScheduled) void this.write();
    this.#hour = hour;
  }
}

/** Whether `last`, which is rounded down to the hour, is more than an hour ago. */
function isStale(last: number | null, now: number): boolean {
  return last === null || last <= now - HOUR_MS;
}
