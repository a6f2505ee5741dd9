import type { Caller } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import {
  cursorPosition,
  listCursor,
  listedBytes,
  listStart,
  type Position,
  positionAfter,
  startOfNextOrder,
  type UserGroupList,
} from '../../domain/user-group/cursor.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import {
  EVERY_GROUP,
  searchableText,
  type UserGroupFilter,
} from '../../domain/user-group/user-group-filter.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult } from '../../store/port.ts';
import { type PageQuery, refuseCursor } from '../list-cursor.ts';
import { pagesOfList } from '../pages.ts';
import {
  DEFAULT_SCAN,
  filteredPage,
  type ListContext,
  type ReadPage,
  type ScanBounds,
} from './filtered-page.ts';

export interface Page {
  userGroups: UserGroup[];
  /** null at the end of the list. */
  nextCursor: string | null;
  /** Number of groups read for the page. */
  scanned: number;
}

/** Every group meets an absent condition. */
export interface ListQuery extends PageQuery, Partial<Omit<UserGroupFilter, 'contains'>> {
  search?: string;
  /** How `search` matches; a prefix if absent. */
  match?: 'prefix' | 'contains';
  /**
   * Whether to list in name order if the conditions concern only ids and names: that is the fastest search.
   */
  prefersNames?: boolean;
  /** Maximum that a page with a filter reads until it is full. */
  scan?: ScanBounds;
}

/**
 * Maximum number of queries per page. A search in name order skips groups that it has already listed in id
 * order; if there are many, the page ends early with fewer groups than its limit, or none, so that it stays
 * fast.
 */
const MAX_READS = 16;

/**
 * Lists the groups of the caller's workspace and environment (keyset pagination). A group that exists
 * throughout under the same id is listed exactly once, whatever else changes; in a search by name, only if its
 * name does not change. Throws `invalid_request` for a cursor of another list.
 */
export async function listUserGroups(
  context: ListContext,
  caller: Caller,
  { limit, cursor, scan = DEFAULT_SCAN, ...conditions }: ListQuery,
): Promise<Page> {
  const list = describeList(caller, conditions);
  const start =
    cursor === undefined
      ? listStart(list)
      : (cursorPosition(list, cursor) ?? refuseCursor('search and filters'));
  const { filter } = list;
  const { userGroups, next, scanned } =
    filter === undefined
      ? await completePage(context.store, list, start, limit)
      : await filteredPage(context, caller, { ...list, filter }, start, { limit, scan });
  return { userGroups, nextCursor: next && listCursor(list, next), scanned };
}

/** Yields all groups of the list, page by page; no page is empty. */
export async function* userGroupPages(
  context: ListContext,
  caller: Caller,
  query: ListQuery,
): AsyncGenerator<UserGroup[]> {
  const pages = pagesOfList((next) => listUserGroups(context, caller, { ...query, ...next }));
  for await (const { userGroups } of pages) if (userGroups.length > 0) yield userGroups;
}

function describeList(
  { workspaceId, environment }: Caller,
  {
    search = '',
    match = 'prefix',
    prefersNames = false,
    ...conditions
  }: Omit<ListQuery, 'limit' | 'cursor' | 'scan'>,
): UserGroupList {
  const isPrefix = match === 'prefix';
  const list = { workspaceId, environment, search: isPrefix ? search : '' };
  const filter = { ...EVERY_GROUP, ...conditions, contains: isPrefix ? null : search };
  if (Object.values(filter).every((condition) => condition === null)) return list;
  const isByName = prefersNames && searchableText(filter) !== undefined;
  return { ...list, filter, ...(isByName && { order: 'name' }) };
}

/** Returns a page of a list without a filter. */
async function completePage(
  store: BatchingStore,
  list: UserGroupList,
  start: Position,
  limit: number,
): Promise<ReadPage> {
  const found: { userGroup: UserGroup; after: Position }[] = [];
  let from: Position | null = start;
  let bytes = 0;
  for (let reads = 0; from && reads < MAX_READS; reads++) {
    // Reads one group more than the page has, to know whether another page follows.
    if (found.length > limit || bytes >= limits.pageBytes) break;
    const { order }: Position = from;
    const { userGroups, isEnd }: QueryResult<'listUserGroups'> = await store.read({
      kind: 'listUserGroups',
      list,
      from,
      limit: limit + 1 - found.length,
      maxBytes: limits.pageBytes - bytes,
    });
    for (const userGroup of userGroups) {
      bytes += listedBytes(userGroup);
      const isListedById = order === 'name' && userGroup.providedId.startsWith(list.search);
      if (!isListedById) found.push({ userGroup, after: positionAfter(order, userGroup) });
    }
    from = isEnd ? startOfNextOrder(order, list) : positionAfter(order, userGroups.at(-1)!);
  }
  if (found.length > limit) from = found[limit - 1]!.after;
  const userGroups = found.slice(0, limit).map(({ userGroup }) => userGroup);
  return { userGroups, next: from, scanned: userGroups.length };
}
