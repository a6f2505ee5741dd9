import type { Caller } from '../domain/api-token.ts';
import {
  cursorOf,
  listedBytesOf,
  type Position,
  positionAfter,
  positionOf,
  startOf,
  startOfNextOrder,
  type UserGroupList,
} from '../domain/cursor.ts';
import { limits } from '../domain/field.ts';
import type { UserGroup } from '../domain/user-group.ts';
import { Problem } from '../problem.ts';
import type { QueryResult } from '../store/store.ts';
import type { Context } from './context.ts';

export interface Page {
  userGroups: UserGroup[];
  /** null where the list is at its end. */
  nextCursor: string | null;
}

export interface ListQuery {
  limit: number;
  cursor?: string;
  search?: string;
}

/**
 * How often a page asks the store. A search leaves out, in the order of names, what it has listed in the order of ids:
 * where that is much, a page has fewer groups than its limit, or none, before it takes long.
 */
const MAX_READS = 16;

/**
 * The next groups of the list of the caller's workspace and environment, from the cursor on. A group that is there
 * all the time is listed exactly once, whatever else changes; in a search by name only where it keeps its name.
 * Throws `invalid_request` for a cursor that is not of this list.
 */
export async function listUserGroups(
  { store }: Context,
  { workspaceId, environment }: Caller,
  { limit, cursor, search = '' }: ListQuery,
): Promise<Page> {
  const list: UserGroupList = { workspaceId, environment, search };
  const found: { userGroup: UserGroup; after: Position }[] = [];
  let from: Position | null = cursor === undefined ? startOf(list) : readCursor(list, cursor);
  let bytes = 0;
  // One more than the page has tells whether another page follows.
  for (
    let reads = 0;
    from && reads < MAX_READS && found.length <= limit && bytes < limits.pageBytes;
    reads++
  ) {
    const { order }: Position = from;
    const { userGroups, isEnd }: QueryResult<'searchUserGroups'> = await store.read({
      kind: 'searchUserGroups',
      list,
      from,
      limit: limit + 1 - found.length,
      maxBytes: limits.pageBytes - bytes,
    });
    for (const userGroup of userGroups) {
      bytes += listedBytesOf(userGroup);
      const isListedById = order === 'name' && userGroup.providedId.startsWith(search);
      if (!isListedById) found.push({ userGroup, after: positionAfter(order, userGroup) });
    }
    from = isEnd ? startOfNextOrder(order, list) : positionAfter(order, userGroups.at(-1)!);
  }
  if (found.length > limit) from = found[limit - 1]!.after;
  return {
    userGroups: found.slice(0, limit).map(({ userGroup }) => userGroup),
    nextCursor: from && cursorOf(list, from),
  };
}

function readCursor(list: UserGroupList, cursor: string): Position {
  const position = positionOf(list, cursor);
  if (position !== null) return position;
  throw new Problem(
    'invalid_request',
    'cursor is not one of this list. Send next_cursor of the page before as it was, with the same search and an API token of the same workspace and environment.',
  );
}
