// Pages of a filtered list: reads summaries of the groups in the order of the list, evaluates the filter, and fetches the
// groups that match.

import { type Position, positionAfter, startOfNextOrder, type UserGroupList } from '../../domain/cursor.ts';
import { limits } from '../../domain/field.ts';
import { keyOf, type UserGroup } from '../../domain/user-group/user-group.ts';
import { matcherOf, type UserGroupFilter } from '../../domain/user-group/user-group-filter.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult, UserGroupSummary } from '../../store/port.ts';

/** Bounds of a page, so that it is fast in any list: it ends with fewer groups than its limit, or none. */
const MAX_READS = 5;
const MAX_SCAN_MS = 500;
/** Bounds of one query, so that lookups are fast beside it. */
const SUMMARIES = 1_000;
/** SQLite skips stored JSON, which takes time too; mappings are transferred and parsed. */
const SKIPPED_BYTES = 8 * 1024 * 1024;
const PARSED_BYTES = 1024 * 1024;

interface Match {
  summary: UserGroupSummary;
  after: Position;
}

/** The groups from `start` on that match the filter of the list. `next` is null at its end. */
export async function filteredPage(
  store: BatchingStore,
  list: UserGroupList & { filter: UserGroupFilter },
  start: Position,
  limit: number,
): Promise<{ userGroups: UserGroup[]; next: Position | null }> {
  const matches = matcherOf(list.filter);
  const { found, next } = await scan(store, list, start, { limit, matches });
  const page = found.slice(0, countFitting(found, limit));
  const userGroups = await fetchGroups(store, list, page);
  return {
    // A group may have been changed since.
    userGroups: userGroups.filter(matches),
    next: page.length < found.length ? page.at(-1)!.after : next,
  };
}

/** Gives more matches than fit on the page, if there are more within the bounds. */
async function scan(
  store: BatchingStore,
  list: UserGroupList & { filter: UserGroupFilter },
  start: Position,
  { limit, matches }: { limit: number; matches: (group: UserGroupSummary) => boolean },
): Promise<{ found: Match[]; next: Position | null }> {
  const withMappings = list.filter.dataSource !== null;
  const endBy = performance.now() + MAX_SCAN_MS;
  const found: Match[] = [];
  let from: Position | null = start;
  for (let reads = 0; from && reads < MAX_READS && countFitting(found, limit) === found.length; reads++) {
    if (reads > 0 && performance.now() >= endBy) break;
    const { order }: Position = from;
    const { summaries, isEnd }: QueryResult<'listUserGroupSummaries'> = await store.read({
      kind: 'listUserGroupSummaries',
      list,
      from,
      withMappings,
      limit: SUMMARIES,
      maxBytes: withMappings ? PARSED_BYTES : SKIPPED_BYTES,
    });
    for (const summary of summaries) {
      const isListedById = order === 'name' && summary.providedId.startsWith(list.search);
      if (!isListedById && matches(summary)) found.push({ summary, after: positionAfter(order, summary) });
    }
    from = isEnd ? startOfNextOrder(order, list) : positionAfter(order, summaries.at(-1)!);
  }
  return { found, next: from };
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
  const keys = page.map(({ summary }) => keyOf(workspaceId, environment, summary.providedId));
  const userGroups = await store.read({ kind: 'findUserGroups', keys });
  return userGroups.filter((userGroup) => userGroup !== null);
}
