// Usage of user groups: how often their tokens were used, by UTC day.

import { DAY_MS, startOfDay } from './instant.ts';
import type { UserGroupKey } from './user-group/user-group.ts';

export type UsageKind = 'resolves' | 'introspections' | 'forward_authentications' | 'embed_tokens';

export interface UsageCount extends UserGroupKey {
  day: Day;
  kind: UsageKind;
  /** The id of the integration that an embed token was minted for; empty for other kinds. */
  integration: string;
  count: number;
}

export type UsagePosition = Omit<UsageCount, 'bucket' | 'count'>;

/** Days since 1970, in UTC. */
export type Day = number;

export function toDay(instant: number): Day {
  return Math.floor(instant / DAY_MS);
}

export type Grouping = 'day' | 'month';

/** Starts with the day `start` and ends with the day `end`. */
export interface Period {
  start: Day;
  end: Day;
  /** `YYYY-MM-DD` or `YYYY-MM` */
  date: string;
}

/** The period that starts on this day: a day, or the rest of its month up to `to`. */
export function periodAt(start: Day, to: Day, grouping: Grouping): Period {
  const date = periodDate(start, grouping);
  if (grouping === 'day') return { start, end: start, date };
  const at = new Date(start * DAY_MS);
  const nextMonth = toDay(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1));
  return { start, end: Math.min(nextMonth - 1, to), date };
}

/** The date of the period that has this day. */
export function periodDate(day: Day, grouping: Grouping): Period['date'] {
  const date = dayDate(day);
  return grouping === 'day' ? date : date.slice(0, 'YYYY-MM'.length);
}

/** `YYYY-MM-DD` */
export function dayDate(day: Day): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Returns null for a date that does not exist. */
export function dayOfDate(date: string): Day | null {
  const instant = startOfDay(date);
  return instant === null ? null : toDay(instant);
}
