import type { Caller } from '../../domain/api-token.ts';
import {
  cursorOf,
  listedBytesOf,
  type Position,
  positionAfter,
  positionOf,
  startOf,
  startOfNextOrder,
  type UserGroupList,
} from '../../domain/cursor.ts';
import { limits } from '../../domain/field.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import { Problem } from '../../problem.ts';
import type { QueryResult } from '../../store/port.ts';
import type { Context } from '../context.ts';

export interface Page {
  userGroups: UserGroup[];
  /** null at the end of the list. */
  nextCursor: string | null;
}

export interface ListQuery {
  limit: number;
  cursor?: string;
  search?: string;
}

/**
 * Queries per page. A search skips, in the order of names, the groups that it has already listed in the order of ids; if
 * there are many, the page ends early with fewer groups than its limit, or none, so that it stays fast.
 */
const MAX_READS = 16;

/**
 * Keyset pagination: the next groups of the caller's workspace and environment, from the cursor on. A group that exists
 * throughout is listed exactly once, whatever else changes; in a search by name, only if its name is unchanged. Throws
 * `invalid_request` for a cursor of another list.
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
  // Reads one group more than the page has, to know whether another page follows.
  for (
    let reads = 0;
    from && reads < MAX_READS && found.length <= limit && bytes < limits.pageBytes;
    reads++
  ) {
    const { order }: Position = from;
    const { userGroups, isEnd }: QueryResult<'listUserGroups'> = await store.read({
      kind: 'listUserGroups',
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
    'cursor is not valid for this list. Send next_cursor of the previous page unchanged, with the same search and an API token of the same workspace and environment.',
  );
}
