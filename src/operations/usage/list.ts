// Lists usage by user group and period, adding up the counts of the days of a period.

import type { Caller } from '../../domain/api-token.ts';
import { encodeCursor, type ListName } from '../../domain/cursor.ts';
import { compareIds } from '../../domain/id-order.ts';
import { type Tenant, tenantOf } from '../../domain/tenant.ts';
import {
  type Day,
  type Grouping,
  type Period,
  periodAt,
  periodDate,
  toDay,
  type UsageCount,
} from '../../domain/usage.ts';
import { userGroupKey } from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { Context } from '../context.ts';
import { type PageQuery, readCursor } from '../list-cursor.ts';

export interface UsageQuery extends PageQuery {
  /** Default: 29 days before `to`. */
  from: Day | undefined;
  /** Default: today. */
  to: Day | undefined;
  groupBy: Grouping;
  /** null selects all user groups. */
  userGroupId: string | null;
  /** Selects the periods that have embed tokens of this integration; null selects all periods. */
  integration: string | null;
}

/** The counts of one user group in one period. */
export interface UsageEntry {
  userGroupId: string;
  date: string;
  resolves: number;
  introspections: number;
  forward_authentications: number;
  /** Counts by integration id. */
  embedTokens: Map<string, number>;
}

interface UsagePage {
  entries: UsageEntry[];
  nextCursor: string | null;
}

/** Position in a list: after this user group in the period that starts on the day `from`. `to` is that of the first page. */
interface Place {
  from: Day;
  to: Day;
  after: string;
}

interface Reading {
  store: BatchingStore;
  tenant: Tenant;
}

export const DEFAULT_USAGE_DAYS = 30;
export const MAX_USAGE_DAYS = 400;
/** Maximum number of counts read at once, divided among the days of a period. */
const READ = 4_000;
/** Bounds of a page, at which it ends early, even if it is empty. */
const MAX_READS = 62;
const MAX_READ_MS = 500;
const PLACE = /^(\d{1,7}) (\d{1,7}) (\P{Cc}*)$/u;

/**
 * Lists usage by period and, within a period, by user group. Throws `invalid_request` for a cursor of another
 * list, and for days that are not in order or too far apart.
 */
export async function listUsage(
  { store, clock }: Pick<Context, 'store' | 'clock'>,
  caller: Caller,
  query: UsageQuery,
): Promise<UsagePage> {
  const { groupBy, userGroupId, integration, cursor } = query;
  const tenant = tenantOf(caller);
  const list: ListName = [
    'usage',
    tenant.workspaceId,
    tenant.environment,
    query.from,
    query.to,
    groupBy,
    userGroupId,
    integration,
  ];
  const place =
    cursor === undefined
      ? { ...usageRange(query, toDay(clock())), after: '' }
      : parsePlace(readCursor(list, cursor, PLACE));
  const { entries, next } = await (userGroupId === null
    ? readUserGroups({ store, tenant }, query, place)
    : readUserGroup({ store, tenant }, userGroupId, query, place));
  const nextCursor = next && encodeCursor(list, `${next.from} ${next.to} ${next.after}`);
  return { entries, nextCursor };
}

interface ReadEntries {
  entries: UsageEntry[];
  /** null at the end of the list. */
  next: Place | null;
}

/** Reads period by period. */
async function readUserGroups(
  reading: Reading,
  { groupBy, integration, limit }: UsageQuery,
  first: Place,
): Promise<ReadEntries> {
  const entries: UsageEntry[] = [];
  const endBy = performance.now() + MAX_READ_MS;
  const { to } = first;
  let place = first;
  for (let reads = 0; place.from <= to && entries.length < limit && reads < MAX_READS; ) {
    if (reads > 0 && performance.now() >= endBy) break;
    const period = periodAt(place.from, to, groupBy);
    const read = await readPeriod(reading, period, place.after);
    const found = read.entries.filter((entry) => isWanted(entry, integration));
    const fitting = found.slice(0, limit - entries.length);
    entries.push(...fitting);
    const isFull = fitting.length < found.length;
    const last = (isFull ? fitting : read.entries).at(-1)?.userGroupId;
    place =
      read.isEnd && !isFull
        ? { from: period.end + 1, to, after: '' }
        : { from: period.start, to, after: last! };
    reads += period.end - period.start + 1;
  }
  return { entries, next: place.from > to ? null : place };
}

/**
 * Returns the range of days with defaults. `names` are used for `from` and `to` in messages. Throws
 * `invalid_request`.
 */
export function usageRange(
  { from, to }: Pick<UsageQuery, 'from' | 'to'>,
  today: Day,
  names: readonly [from: string, to: string] = ['The parameter from', 'to'],
): { from: Day; to: Day } {
  const last = to ?? today;
  const first = from ?? Math.max(0, last - DEFAULT_USAGE_DAYS + 1);
  const end = to === undefined ? 'today' : names[1];
  const refuse = (relation: string) =>
    new Problem('invalid_request', `${names[0]} must not be ${relation} ${end}.`);
  if (first > last) throw refuse('after');
  if (last - first >= MAX_USAGE_DAYS) throw refuse(`more than ${MAX_USAGE_DAYS - 1} days before`);
  return { from: first, to: last };
}

function parsePlace(position: string): Place {
  const [, from, to, after] = PLACE.exec(position)!;
  return { from: Number(from), to: Number(to), after: after! };
}

/** Reads in one query unless the user group has thousands of counts. */
async function readUserGroup(
  { store, tenant }: Reading,
  userGroupId: string,
  { groupBy, integration, limit }: UsageQuery,
  { from, to }: Place,
): Promise<ReadEntries> {
  const key = userGroupKey(tenant, userGroupId);
  for (let most = READ; ; most *= 2) {
    const counts = await store.read({ kind: 'listUsageOfUserGroup', key, from, to, limit: most });
    const periods = [...Map.groupBy(counts, ({ day }) => periodDate(day, groupBy))];
    // The last period of a full result may have more counts.
    const partial = counts.length === most ? periods.pop() : undefined;
    if (partial !== undefined && periods.length === 0) continue;
    const found = periods
      .map(([date, ofPeriod]) => ({ day: ofPeriod[0]!.day, entry: usageEntries(ofPeriod, date)[0]! }))
      .filter(({ entry }) => isWanted(entry, integration));
    const next = found[limit]?.day ?? partial?.[1].at(0)?.day;
    return {
      entries: found.slice(0, limit).map(({ entry }) => entry),
      next: next === undefined ? null : { from: next, to, after: '' },
    };
  }
}

function isWanted({ embedTokens }: UsageEntry, integration: string | null): boolean {
  return integration === null || embedTokens.has(integration);
}

/**
 * Reads the first user groups after `after`, in order and with all their counts; `isEnd` if no group follows.
 */
async function readPeriod(
  reading: Reading,
  period: Period,
  after: string,
): Promise<{ entries: UsageEntry[]; isEnd: boolean }> {
  const days = period.end - period.start + 1;
  for (let limit = Math.ceil(READ / days); ; limit *= 2) {
    const read = await readCounts(reading, period, after, limit);
    const entries = usageEntries(read.flat(), period.date).sort((a, b) =>
      compareIds(a.userGroupId, b.userGroupId),
    );
    const full = read.filter((counts) => counts.length === limit);
    if (full.length === 0) return { entries, isEnd: true };
    // The last group of a full result may have more counts, and other days may have more groups after it.
    const [bound] = full.map((counts) => counts.at(-1)!.providedId).sort(compareIds);
    const complete = entries.filter(({ userGroupId }) => compareIds(userGroupId, bound!) < 0);
    if (complete.length > 0) return { entries: complete, isEnd: false };
  }
}

/** Returns one result for each day. */
function readCounts(
  { store, tenant }: Reading,
  { start, end }: Period,
  after: string,
  limit: number,
): Promise<UsageCount[][]> {
  const days = Array.from({ length: end - start + 1 }, (_, index) => start + index);
  return Promise.all(days.map((day) => store.read({ kind: 'listUsageOfDay', tenant, day, after, limit })));
}

function usageEntries(counts: readonly UsageCount[], date: string): UsageEntry[] {
  const entries = new Map<string, UsageEntry>();
  for (const { providedId, kind, integration, count } of counts) {
    const entry = entries.get(providedId) ?? unused(providedId, date);
    entries.set(providedId, entry);
    const { embedTokens } = entry;
    if (kind === 'embed_tokens') embedTokens.set(integration, (embedTokens.get(integration) ?? 0) + count);
    else entry[kind] += count;
  }
  return [...entries.values()];
}

function unused(userGroupId: string, date: string): UsageEntry {
  return {
    userGroupId,
    date,
    resolves: 0,
    introspections: 0,
    forward_authentications: 0,
    embedTokens: new Map(),
  };
}
