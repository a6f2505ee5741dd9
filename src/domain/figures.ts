// Figures about the user groups of an environment, as they were when they were counted.

import type { Catalogue } from './catalogue/catalogue.ts';
import { DAY_MS } from './instant.ts';
import { type Day, toDay } from './usage.ts';
import type { UserGroup } from './user-group/user-group.ts';
import { hasInvalidMapping } from './user-group/user-group-filter.ts';

/** Days before today that charts show, and that count as recent. */
export const CHART_DAYS = 14;
const NEW_DAYS = 7;
const UNSEEN_DAYS = 30;

export interface Figures {
  /** Version of the configuration that they were counted with. */
  configVersion: number;
  /** Duration of the count. */
  tookMs: number;
  userGroups: number;
  /** Created at this instant or later. */
  createdSince: number;
  created: number;
  suspended: number;
  neverSeen: number;
  /** Last seen before this instant, or never. */
  seenBefore: number;
  unseen: number;
  invalidMapping: number;
  invalidProperties: number;
  /** User groups by the number of a data source that they use, also as a default. */
  dataSources: Readonly<Record<string, number>>;
  resolves: DayCounts;
  changes: DayCounts;
}

export interface CountedFigures extends Figures {
  countedAt: number;
}

export interface DayCounts {
  counts: Readonly<Record<string, number>>;
  /** First day that was counted completely. */
  since: Day;
}

type Counted = Pick<UserGroup, 'providedId' | 'mapping' | 'createdAt' | 'suspendedAt' | 'lastSeenAt'>;

type UserGroupFigures = Omit<Figures, 'configVersion' | 'tookMs' | 'resolves' | 'changes'>;

/** Adds up user groups. */
export class UserGroupTally {
  readonly #catalogue: Catalogue;
  readonly #createdSince: number;
  readonly #seenBefore: number;
  readonly #counts = {
    userGroups: 0,
    created: 0,
    suspended: 0,
    neverSeen: 0,
    unseen: 0,
    invalidMapping: 0,
    invalidProperties: 0,
  };
  readonly #dataSources = new Map<number, number>();

  /** Both limits are starts of days, so that lists can be filtered by the same ones. */
  constructor(catalogue: Catalogue, now: number) {
    this.#catalogue = catalogue;
    const today = toDay(now);
    this.#createdSince = (today - NEW_DAYS + 1) * DAY_MS;
    this.#seenBefore = (today - UNSEEN_DAYS) * DAY_MS;
  }

  add(group: Counted, hasInvalidProperties: boolean): void {
    const counts = this.#counts;
    counts.userGroups++;
    if (group.createdAt >= this.#createdSince) counts.created++;
    if (group.suspendedAt !== null) counts.suspended++;
    if (group.lastSeenAt === null) counts.neverSeen++;
    if (group.lastSeenAt === null || group.lastSeenAt < this.#seenBefore) counts.unseen++;
    if (hasInvalidProperties) counts.invalidProperties++;
    if (this.#catalogue.isEmpty) return;
    if (hasInvalidMapping(group, this.#catalogue)) counts.invalidMapping++;
    for (const number of this.#catalogue.dataSourcesUsedBy(group.mapping))
      this.#dataSources.set(number, (this.#dataSources.get(number) ?? 0) + 1);
  }

  get figures(): UserGroupFigures {
    return {
      ...this.#counts,
      createdSince: this.#createdSince,
      seenBefore: this.#seenBefore,
      dataSources: Object.fromEntries(this.#dataSources),
    };
  }
}
