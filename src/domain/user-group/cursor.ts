// Keyset pagination of user groups: positions in a list, and the cursors that encode them.
//
// A list is in the order of the groups' ids, byte for byte. A search first lists the groups whose id starts
// with the text, in that order, then those of which only the name does, in the order of their names. A filter
// leaves out groups and does not change the order.

import { decodeCursor, encodeCursor, type ListName } from '../cursor.ts';
import { limits } from '../field.ts';
import type { Tenant } from '../tenant.ts';
import type { UserGroup } from './user-group.ts';
import type { UserGroupFilter } from './user-group-filter.ts';

/** A list that a caller can request. Its pages may differ in size. */
export interface UserGroupList extends Tenant {
  /** Prefix of the id or name of each group; empty for all groups. */
  search: string;
  /** Absent if the list has every group of the search. */
  filter?: UserGroupFilter;
  /** Lists in the order of names instead. */
  order?: 'name';
}

/** Start of the next page (inclusive), in the order of ids or of names. */
export type Position =
  | { order: 'id'; providedId: string }
  | { order: 'name'; name: string; providedId: string };

/** Ids contain no control characters, so no id sorts between an id and that id followed by this one. */
const NEXT = '\u0001';
const LAST_CODE_POINT = '\u{10ffff}';

/** Sorts after every name. */
export const LAST_NAME = prefixUpperBound('');

export function listStart({ search, order }: UserGroupList): Position {
  if (order === 'name') return { order, name: '', providedId: '' };
  return { order: 'id', providedId: search };
}

type Named = Pick<UserGroup, 'name' | 'providedId'>;

/** The position immediately after the group. */
export function positionAfter(order: Position['order'], { name, providedId }: Named): Position {
  const next = providedId + NEXT;
  return order === 'id' ? { order, providedId: next } : { order, name, providedId: next };
}

/** The position after the last group of one order; null at the end of the list. */
export function startOfNextOrder(order: Position['order'], { search }: UserGroupList): Position | null {
  return order === 'id' && search !== '' ? { order: 'name', name: search, providedId: '' } : null;
}

/** Sorts after every id or name with this prefix: none is longer. */
export function prefixUpperBound(search: string): string {
  return search + LAST_CODE_POINT.repeat(limits.textCodePoints);
}

/** The size that a group adds to a page, without its short fields. */
export function listedBytes({ mapping, properties }: UserGroup): number {
  return Buffer.byteLength(mapping ?? '') + Buffer.byteLength(properties ?? '');
}

export function listCursor(list: UserGroupList, position: Position): string {
  const parts = position.order === 'id' ? [position.providedId] : [position.name, position.providedId];
  return encodeCursor(listName(list), parts.join('\0'));
}

/** The position that `listCursor` encoded for this list; null for any other text. */
export function cursorPosition(list: UserGroupList, cursor: string): Position | null {
  const text = decodeCursor(listName(list), cursor);
  if (text === null) return null;
  const parts = text.split('\0');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return { order: 'id', providedId: first };
  return parts.length === 2 ? { order: 'name', name: first, providedId: second } : null;
}

function listName({ workspaceId, environment, search, filter, order }: UserGroupList): ListName {
  const conditions = filter ? [conditionsOf(filter)] : [];
  return [workspaceId, environment, search, ...conditions, ...(order ? [order] : [])];
}

/** The conditions of the first version, and the others if they are set: so cursors of earlier versions stay valid. */
function conditionsOf({ contains, dataSource, suspended, seenBefore, ...others }: UserGroupFilter): object {
  const set = Object.entries(others).filter(([, condition]) => condition !== null);
  return { contains, dataSource, suspended, seenBefore, ...Object.fromEntries(set) };
}
