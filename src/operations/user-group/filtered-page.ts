// Reads pages of a filtered list: reads summaries of the groups in list order, evaluates the filter, and
// fetches the groups that match.

import type { Caller } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import { type Position, positionAfter, type UserGroupList } from '../../domain/user-group/cursor.ts';
import { type UserGroup, userGroupKey, valuesLength } from '../../domain/user-group/user-group.ts';
import {
  compileFilter,
  fieldsReadBy,
  searchableText,
  type UserGroupFilter,
} from '../../domain/user-group/user-group-filter.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { UserGroupSummary } from '../../store/port.ts';
import type { Context } from '../context.ts';
import { EnvironmentConfig } from '../document/environment-config.ts';
import { readSummaries, type Summaries, searchSummaries } from './summaries.ts';
import { violationsOfProperties } from './violations.ts';

/**
 * Bounds of a page, which keep it fast in any list: at a bound, it ends with fewer groups than its limit, or
 * none.
 */
export interface ScanBounds {
  /** Maximum number of groups read. */
  read: number;
  /** Maximum number of groups that the database searches for a text, which is faster. */
  searched: number;
  ms: number;
}

export const DEFAULT_SCAN: ScanBounds = { read: 5_000, searched: 5_000, ms: 500 };
/**
 * Number of candidates that the first query reads for each group of the page, because other conditions may
 * rule some out.
 */
const CANDIDATES = 4;
/** Growth of each query over the one before: a page of many matches is full after a few queries. */
const GROWTH = 4;

export type ListContext = Pick<Context, 'store' | 'cpu' | 'configs' | 'propertyValidator'>;

interface FilteredList extends UserGroupList {
  filter: UserGroupFilter;
}

interface PageBounds {
  limit: number;
  scan: ScanBounds;
}

export interface ReadPage {
  userGroups: UserGroup[];
  /** null at the end of the list. */
  next: Position | null;
  /** Number of groups read up to `next`. */
  scanned: number;
}

interface Match {
  summary: UserGroupSummary;
  after: Position;
  /** Number of groups read up to this match. */
  scanned: number;
}

type Selection = <Group extends Omit<UserGroupSummary, 'bytes'>>(
  groups: readonly Group[],
) => Promise<Group[]>;

/** Returns the groups from `start` that match the filter of the list. */
export async function filteredPage(
  context: ListContext,
  caller: Caller,
  list: FilteredList,
  start: Position,
  bounds: PageBounds,
): Promise<ReadPage> {
  const { store } = context;
  const select = await prepareSelection(context, caller, list.filter);
  const { found, next, scanned } = await scan(store, { list, select }, start, bounds);
  const page = found.slice(0, countFitting(found, bounds.limit));
  const userGroups = await fetchGroups(store, list, page);
  const last = page.at(-1);
  return {
    // Selects again, because a group may have changed in the meantime.
    userGroups: await select(userGroups),
    ...(page.length < found.length ? { next: last!.after, scanned: last!.scanned } : { next, scanned }),
  };
}

/** Returns the groups that meet the filter. */
async function prepareSelection(
  { store, cpu, configs, propertyValidator }: ListContext,
  caller: Caller,
  filter: UserGroupFilter,
): Promise<Selection> {
  const needsConfig = filter.dataSource !== null || filter.invalid !== null;
  const config = needsConfig ? await configs.of(store, caller) : EnvironmentConfig.empty;
  const matches = compileFilter(filter, config.catalogue);
  const { withMappings, withProperties } = fieldsReadBy(filter);
  return async <Group extends Omit<UserGroupSummary, 'bytes'>>(groups: readonly Group[]) => {
    const matching: Group[] = [];
    for (const group of groups) {
      const mapping = withMappings ? group.mapping : null;
      const properties = withProperties ? group.properties : null;
      const { providedId, name } = group;
      const turn = cpu.turn(providedId.length + name.length + valuesLength({ mapping, properties }));
      if (turn !== undefined) await turn;
      if (matches(group)) matching.push(group);
    }
    if (filter.invalid !== 'properties' || matching.length === 0) return matching;
    const violations = await violationsOfProperties({ propertyValidator }, caller, config, matching);
    return matching.filter((_, index) => violations[index]!.length > 0);
  };
}

/** Finds more matches than fit on the page, if the bounds allow. */
async function scan(
  store: BatchingStore,
  { list, select }: { list: FilteredList; select: Selection },
  start: Position,
  { limit, scan: bounds }: PageBounds,
): Promise<{ found: Match[]; next: Position | null; scanned: number }> {
  // The database finds candidates: every group whose id or name is not only ASCII is one.
  const text = list.order === 'name' ? searchableText(list.filter) : undefined;
  const maxScanned = text === undefined ? bounds.read : bounds.searched;
  const fields = fieldsReadBy(list.filter);
  let most = CANDIDATES * (limit + 1);
  const endBy = performance.now() + bounds.ms;
  const found: Match[] = [];
  let from: Position | null = start;
  let scanned = 0;
  while (from && scanned < maxScanned && countFitting(found, limit) === found.length) {
    if (scanned > 0 && performance.now() >= endBy) break;
    const left = maxScanned - scanned;
    const { order, summaries, ...read }: Summaries = await (text === undefined
      ? readSummaries(store, list, from, { ...fields, limit: Math.min(left, most) })
      : searchSummaries(store, list, from, { text, scanLimit: left, limit: most }));
    most *= GROWTH;
    const matching = new Set(await select(summaries));
    for (const [index, summary] of summaries.entries()) {
      const isListedById =
        list.order === undefined && order === 'name' && summary.providedId.startsWith(list.search);
      // An estimate for groups among others that the database has left out.
      const upToIt = scanned + Math.ceil(((index + 1) / summaries.length) * read.scanned);
      if (!isListedById && matching.has(summary))
        found.push({ summary, after: positionAfter(order, summary), scanned: upToIt });
    }
    scanned += read.scanned;
    from = read.next;
  }
  return { found, next: from, scanned };
}

/**
 * Returns how many matches the page contains: at most `limit`, up to the one at which their total size
 * reaches the bound.
 */
function countFitting(found: readonly Match[], limit: number): number {
  let bytes = 0;
  const last = found.slice(0, limit).findIndex(({ summary }) => {
    bytes += summary.bytes;
    return bytes >= limits.pageBytes;
  });
  return last === -1 ? Math.min(found.length, limit) : last + 1;
}

/** Fetches the groups, without those that have been deleted in the meantime. */
async function fetchGroups(
  store: BatchingStore,
  list: UserGroupList,
  page: readonly Match[],
): Promise<UserGroup[]> {
  if (page.length === 0) return [];
  const keys = page.map(({ summary }) => userGroupKey(list, summary.providedId));
  const userGroups = await store.read({ kind: 'findUserGroups', keys });
  return userGroups.filter((userGroup) => userGroup !== null);
}
