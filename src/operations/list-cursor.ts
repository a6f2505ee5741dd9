import { decodeCursor, type ListName } from '../domain/cursor.ts';
import { limits } from '../domain/field.ts';
import { Problem } from '../problem.ts';

/** Ids contain no control characters. */
const ID = /^\P{Cc}*$/u;

/** Query parameters that every list has. */
export interface PageQuery {
  limit: number;
  /** Absent for the first page. */
  cursor?: string;
}

/** Returns the position that the cursor encodes. Throws `invalid_request` for a cursor of another list. */
export function readCursor(list: ListName, cursor: string, pattern = ID): string {
  const position = decodeCursor(list, cursor);
  return position !== null && pattern.test(position) ? position : refuseCursor();
}

/** Returns the first `limit` items; the page ends early after `limits.pageBytes`. */
export function firstPage<Item>(
  items: Iterable<Item>,
  limit: number,
  measureBytes: (item: Item) => number,
): Item[] {
  const page: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    if (page.length === limit || bytes >= limits.pageBytes) break;
    page.push(item);
    bytes += measureBytes(item);
  }
  return page;
}

/** Rejects a cursor that this list has not issued, or not for these conditions. */
export class CursorOfAnotherList extends Problem {}

/** `parameters` names what else the cursor depends on. */
export function refuseCursor(parameters?: string): never {
  const same = parameters === undefined ? '' : `the same ${parameters} and `;
  throw new CursorOfAnotherList(
    'invalid_request',
    `cursor is not valid for this list. Send next_cursor of the previous page unchanged, with ${same}an API token of the same workspace and environment.`,
  );
}
