// Counts how often the tokens of user groups are used, by UTC day.

import { dayOf, type UsageCount, type UsageKind } from '../../domain/usage.ts';
import { keyToString, type UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { commandsOf, DelayedWrite } from './delayed-write.ts';

/** Counts in memory. While the database fails, uses of further user groups are not counted. */
const MAX_COLLECTED = 100_000;

type Counts = Map<string, UsageCount>;

export class Usage {
  readonly #store: BatchingStore;
  readonly #isKept: boolean;
  readonly #delayed = new DelayedWrite<Counts>({
    take: () => this.#take(),
    write: (counts) => this.#write(counts),
  });
  #counts: Counts = new Map();

  /** Without retention of events, nothing is counted. */
  constructor(store: BatchingStore, isKept: boolean) {
    this.#store = store;
    this.#isKept = isKept;
  }

  /** `integration`: its id, for embed tokens. */
  count(key: UserGroupKey, kind: UsageKind, now: number, integration = ''): void {
    if (!this.#isKept) return;
    const day = dayOf(now);
    // No id contains a line feed.
    const name = `${kind}\n${integration}\n${day}\n${keyToString(key)}`;
    const collected = this.#counts.get(name);
    if (collected !== undefined) {
      collected.count++;
      return;
    }
    const { bucket, workspaceId, environment, providedId } = key;
    this.#add(name, { bucket, workspaceId, environment, providedId, day, kind, integration, count: 1 });
    this.#delayed.schedule();
  }

  /** Writes what was counted. What could not be written is kept for the next time. */
  write(): Promise<void> {
    return this.#delayed.now();
  }

  #take(): Counts {
    const counts = this.#counts;
    this.#counts = new Map();
    return counts;
  }

  async #write(counts: Counts): Promise<void> {
    for (const names of commandsOf([...counts.keys()])) {
      try {
        await this.#store.write({ kind: 'addUsage', counts: names.map((name) => counts.get(name)!) });
      } catch {
        for (const name of names) this.#add(name, counts.get(name)!);
        this.#delayed.schedule();
      }
    }
  }

  #add(name: string, count: UsageCount): void {
    const collected = this.#counts.get(name);
    if (collected !== undefined) collected.count += count.count;
    else if (this.#counts.size < MAX_COLLECTED) this.#counts.set(name, count);
  }
}
