// Counts how often the tokens of user groups are used, by UTC day.

import { tenantName } from '../../domain/tenant.ts';
import { type Day, toDay, type UsageCount, type UsageKind } from '../../domain/usage.ts';
import type { UserGroup, UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { chunks } from '../pages.ts';
import { DelayedWrite, WRITE_BATCH } from './delayed-write.ts';

/**
 * Delay of a write. It is long because a write costs, for each group, a sixth of a resolve however much was
 * counted.
 */
const WRITE_AFTER_MS = 60_000;
/** Number of counts in memory, about 150 bytes each, at which they are written at once. */
const MANY = 100_000;
/** Maximum number of counts: while the database fails, uses of further user groups are not counted. */
const MAX_COLLECTED = 2 * MANY;
/**
 * Maximum number of integrations of an environment whose embed tokens are counted on a day, ten times as many as
 * it may have: a reader gets all counts of a user group and a day together.
 */
const MAX_INTEGRATIONS = 1_000;

interface Uses {
  key: UserGroupKey;
  count: number;
  /** Uses of the same group under the id that it had before a rename. */
  former?: Uses | undefined;
}

/** The uses of one kind on one day. */
interface Tally {
  day: Day;
  kind: UsageKind;
  integration: string;
  /** Uses by team id, which is faster to compare than the key of a group. */
  uses: Map<number, Uses>;
}

/** Tallies by name, because environments may have thousands of integrations. */
type Tallies = Map<string, Tally>;

type CountedGroup = UserGroupKey & Pick<UserGroup, 'teamId'>;

export class Usage {
  readonly #store: BatchingStore;
  readonly #isKept: boolean;
  readonly #delayed: DelayedWrite<Tallies>;
  #tallies: Tallies = new Map();
  /** Tally of the last use. */
  #last: Tally | null = null;
  /** Integrations whose embed tokens were counted on the day of the last one, by environment. */
  readonly #integrations = new Map<string, Set<string>>();
  #integrationsOn: Day | null = null;
  #size = 0;
  #dropped = 0;

  /** `isKept` is false if events are not kept: then nothing is counted. */
  constructor(store: BatchingStore, isKept: boolean, onError: (error: unknown) => void) {
    this.#store = store;
    this.#isKept = isKept;
    this.#delayed = new DelayedWrite(
      { take: () => this.#take(), write: (tallies) => this.#write(tallies), onError },
      WRITE_AFTER_MS,
    );
  }

  /** Counts a use. `integration` is its id, for embed tokens. */
  count(userGroup: CountedGroup, kind: UsageKind, now: number, integration = ''): void {
    if (!this.#isKept) return;
    const day = toDay(now);
    if (kind === 'embed_tokens' && !this.#mayCount(userGroup, day, integration)) {
      this.#dropped++;
      return;
    }
    const { uses } = this.#findTally(day, kind, integration);
    const { bucket, workspaceId, environment, providedId, teamId } = userGroup;
    const counted = usesUnder(providedId, uses.get(teamId));
    if (counted !== undefined) {
      counted.count++;
      return;
    }
    this.#add(uses, teamId, { key: { bucket, workspaceId, environment, providedId }, count: 1 });
    if (this.#size === MANY) void this.write();
    else this.#delayed.schedule();
  }

  #mayCount(key: UserGroupKey, day: Day, integration: string): boolean {
    if (this.#integrationsOn !== day) this.#integrations.clear();
    this.#integrationsOn = day;
    const tenant = tenantName(key);
    const counted = this.#integrations.get(tenant) ?? new Set();
    if (!counted.has(integration) && counted.size === MAX_INTEGRATIONS) return false;
    this.#integrations.set(tenant, counted.add(integration));
    return true;
  }

  /**
   * Number of uses that were not counted, because too many integrations were used on a day, or too many groups
   * while the database failed.
   */
  get dropped(): number {
    return this.#dropped;
  }

  /** Writes what was counted. Counts whose write fails are kept for the next one. */
  write(): Promise<void> {
    return this.#delayed.now();
  }

  #take(): Tallies {
    const tallies = this.#tallies;
    this.#tallies = new Map();
    this.#last = null;
    this.#size = 0;
    return tallies;
  }

  /** Writes all batches, then throws the first error. */
  async #write(tallies: Tallies): Promise<void> {
    let failure: unknown;
    for (const counts of chunks(countsIn(tallies), WRITE_BATCH)) {
      try {
        await this.#store.write({ kind: 'addUsage', counts });
      } catch (error) {
        failure ??= error;
        for (const { teamId, day, kind, integration, count, ...key } of counts)
          this.#add(this.#findTally(day, kind, integration).uses, teamId, { key, count });
        this.#delayed.schedule();
      }
    }
    if (failure !== undefined) throw failure;
  }

  #findTally(day: Day, kind: UsageKind, integration: string): Tally {
    const last = this.#last;
    if (last?.day === day && last.kind === kind && last.integration === integration) return last;
    const name = `${day} ${kind} ${integration}`;
    const tally = this.#tallies.get(name) ?? { day, kind, integration, uses: new Map() };
    this.#tallies.set(name, tally);
    this.#last = tally;
    return tally;
  }

  #add(uses: Map<number, Uses>, teamId: number, added: Uses): void {
    const former = uses.get(teamId);
    const counted = usesUnder(added.key.providedId, former);
    if (counted !== undefined) counted.count += added.count;
    else if (this.#size < MAX_COLLECTED) {
      this.#size++;
      uses.set(teamId, { ...added, former });
    } else this.#dropped += added.count;
  }
}

function usesUnder(providedId: string, newest: Uses | undefined): Uses | undefined {
  let uses = newest;
  while (uses !== undefined && uses.key.providedId !== providedId) uses = uses.former;
  return uses;
}

function* countsIn(tallies: Tallies): Generator<UsageCount & Pick<UserGroup, 'teamId'>> {
  for (const { day, kind, integration, uses } of tallies.values())
    for (const [teamId, newest] of uses)
      for (let each: Uses | undefined = newest; each !== undefined; each = each.former)
        yield { ...each.key, day, kind, integration, count: each.count, teamId };
}
