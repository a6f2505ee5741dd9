// Pages of a filtered list: reads summaries of the groups in the order of the list, evaluates the filter, and fetches the
// groups that match.

import type { Catalogue } from '../../domain/catalogue.ts';
import { type Position, positionAfter, startOfNextOrder, type UserGroupList } from '../../domain/cursor.ts';
import { limits } from '../../domain/field.ts';
import { type UserGroup, userGroupKey } from '../../domain/user-group/user-group.ts';
import {
  compileFilter,
  fieldsReadBy,
  type UserGroupFilter,
} from '../../domain/user-group/user-group-filter.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult, UserGroupSummary } from '../../store/port.ts';

/** Bounds of a page, so that it is fast in any list: it ends with fewer groups than its limit, or none. */
const MAX_SCANNED = 5_000;
const MAX_SCAN_MS = 500;
/** Bounds of one query, so that lookups are fast beside it: a scan of many groups is many queries, which are paced. */
const SUMMARIES = 2_000;
/** SQLite skips stored JSON, which takes time too; mappings and properties are transferred and parsed. */
const SKIPPED_BYTES = 8 * 1024 * 1024;
const PARSED_BYTES = 1024 * 1024;

export interface PageBounds {
  limit: number;
  /** Reads as many groups as that takes, instead of `MAX_SCANNED`. */
  scanMs?: number | undefined;
}

export interface FilteredPage {
  userGroups: UserGroup[];
  /** null at the end of the list. */
  next: Position | null;
  /** Groups that were read up to `next`. */
  scanned: number;
}

interface Match {
  summary: UserGroupSummary;
  after: Position;
  /** Groups that were read up to it. */
  scanned: number;
}

interface Scan {
  list: UserGroupList & { filter: UserGroupFilter };
  matches: (group: UserGroupSummary) => boolean;
}

/** The groups from `start` on that match the filter of the list. */
export async function filteredPage(
  store: BatchingStore,
  list: Scan['list'],
  catalogue: Catalogue,
  start: Position,
  bounds: PageBounds,
): Promise<FilteredPage> {
  const matches = compileFilter(list.filter, catalogue);
  const { found, next, scanned } = await scan(store, { list, matches }, start, bounds);
  const page = found.slice(0, countFitting(found, bounds.limit));
  const userGroups = await fetchGroups(store, list, page);
  const last = page.at(-1);
  return {
    // A group may have been changed since.
    userGroups: userGroups.filter(matches),
    ...(page.length < found.length ? { next: last!.after, scanned: last!.scanned } : { next, scanned }),
  };
}

/** Gives more matches than fit on the page, if there are more within the bounds. */
async function scan(
  store: BatchingStore,
  { list, matches }: Scan,
  start: Position,
  { limit, scanMs }: PageBounds,
): Promise<{ found: Match[]; next: Position | null; scanned: number }> {
  const fields = fieldsReadBy(list.filter);
  const maxBytes = fields.withMappings || fields.withProperties ? PARSED_BYTES : SKIPPED_BYTES;
  const maxScanned = scanMs === undefined ? MAX_SCANNED : Number.POSITIVE_INFINITY;
  const endBy = performance.now() + (scanMs ?? MAX_SCAN_MS);
  const found: Match[] = [];
  let from: Position | null = start;
  let scanned = 0;
  while (from && scanned < maxScanned && countFitting(found, limit) === found.length) {
    if (scanned > 0 && performance.now() >= endBy) break;
    const { order }: Position = from;
    const { summaries, isEnd }: QueryResult<'listUserGroupSummaries'> = await store.read({
      kind: 'listUserGroupSummaries',
      list,
      from,
      ...fields,
      limit: Math.min(SUMMARIES, maxScanned - scanned),
      maxBytes,
    });
    for (const summary of summaries) {
      scanned++;
      const isListedById = order === 'name' && summary.providedId.startsWith(list.search);
      if (!isListedById && matches(summary))
        found.push({ summary, after: positionAfter(order, summary), scanned });
    }
    from = isEnd ? startOfNextOrder(order, list) : positionAfter(order, summaries.at(-1)!);
  }
  return { found, next: from, scanned };
}

/** How many of the matches a page has: at most `limit`, and none after one with which their sizes reach the bound. */
function countFitting(found: readonly Match[], limit: number): number {
  let bytes = 0;
  const last = found.slice(0, limit).findIndex(({ summary }) => {
    bytes += summary.bytes;
    return bytes >= limits.pageBytes;
  });
  return last === -1 ? Math.min(found.length, limit) : last + 1;
}

/** Without those that were deleted since. */
async function fetchGroups(
  store: BatchingStore,
  { workspaceId, environment }: UserGroupList,
  page: readonly Match[],
): Promise<UserGroup[]> {
  if (page.length === 0) return [];
  const keys = page.map(({ summary }) => userGroupKey(workspaceId, environment, summary.providedId));
  const userGroups = await store.read({ kind: 'findUserGroups', keys });
  return userGroups.filter((userGroup) => userGroup !== null);
}
