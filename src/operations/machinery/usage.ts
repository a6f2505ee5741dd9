// Counts how often the tokens of user groups are used, by UTC day.

import { type Day, dayOf, type UsageCount, type UsageKind } from '../../domain/usage.ts';
import { keyFromString, keyToString, type UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { commandsOf, DelayedWrite } from './delayed-write.ts';

/** A write costs a sixth of a resolve for each group, however often it was counted: rarely, so that it counts many. */
const WRITE_AFTER_MS = 60_000;
/** Counts in memory, about 100 bytes each. Then they are written at once. */
const MANY = 100_000;
/** While the database fails, uses of further user groups are not counted. */
const MAX_COLLECTED = 2 * MANY;

/** The uses of one kind on one day, by the text of the key of the group: half the memory of an object for each. */
interface Tally {
  day: Day;
  kind: UsageKind;
  integration: string;
  uses: Map<string, number>;
}

type Tallies = Map<string, Tally>;

export class Usage {
  readonly #store: BatchingStore;
  readonly #isKept: boolean;
  readonly #delayed = new DelayedWrite<Tallies>(
    { take: () => this.#take(), write: (tallies) => this.#write(tallies) },
    WRITE_AFTER_MS,
  );
  #tallies: Tallies = new Map();
  #size = 0;

  /** Without retention of events, nothing is counted. */
  constructor(store: BatchingStore, isKept: boolean) {
    this.#store = store;
    this.#isKept = isKept;
  }

  /** `integration`: its id, for embed tokens. */
  count(key: UserGroupKey, kind: UsageKind, now: number, integration = ''): void {
    if (!this.#isKept) return;
    this.#add({ day: dayOf(now), kind, integration }, keyToString(key), 1);
    if (this.#size === MANY) void this.write();
    else this.#delayed.schedule();
  }

  /** Writes what was counted. What could not be written is kept for the next time. */
  write(): Promise<void> {
    return this.#delayed.now();
  }

  #take(): Tallies {
    const tallies = this.#tallies;
    this.#tallies = new Map();
    this.#size = 0;
    return tallies;
  }

  async #write(tallies: Tallies): Promise<void> {
    for (const { uses, ...use } of tallies.values()) {
      for (const counts of commandsOf([...uses])) {
        try {
          await this.#store.write({ kind: 'addUsage', counts: counts.map((each) => toCount(use, each)) });
        } catch {
          for (const [key, count] of counts) this.#add(use, key, count);
          this.#delayed.schedule();
        }
      }
    }
  }

  #add(use: Omit<Tally, 'uses'>, key: string, count: number): void {
    // No id contains a line feed.
    const name = `${use.day}\n${use.kind}\n${use.integration}`;
    let tally = this.#tallies.get(name);
    if (tally === undefined) {
      tally = { ...use, uses: new Map() };
      this.#tallies.set(name, tally);
    }
    const { uses } = tally;
    const counted = uses.get(key);
    if (counted === undefined) {
      if (this.#size >= MAX_COLLECTED) return;
      this.#size++;
    }
    uses.set(key, (counted ?? 0) + count);
  }
}

function toCount(use: Omit<Tally, 'uses'>, [key, count]: [key: string, count: number]): UsageCount {
  return { ...keyFromString(key), ...use, count };
}
