// Keyset pagination of user groups: positions in a list, and the cursors that encode them.
//
// A list is in the order of the groups' ids, byte for byte. A search first lists the groups whose id starts with the
// text, in that order, then those whose name does but not the id, in the order of their names. A filter leaves out
// groups and does not change the order.

import { hash } from 'node:crypto';
import { limits } from './field.ts';
import type { Environment, UserGroup } from './user-group.ts';
import type { UserGroupFilter } from './user-group-filter.ts';

/** A list that a caller can request. Its pages may differ in size. */
export interface UserGroupList {
  workspaceId: number;
  environment: Environment;
  /** Prefix of the id or name of each group; empty for all groups. */
  search: string;
  /** Absent if the list has every group of the search. */
  filter?: UserGroupFilter;
}

/** Where the next page starts (inclusive), in the order of ids or of names. */
export type Position =
  | { order: 'id'; providedId: string }
  | { order: 'name'; name: string; providedId: string };

/** Ids contain no control characters, so no id sorts between an id and that id followed by this one. */
const NEXT = '\u0001';
const LAST_CODE_POINT = '\u{10ffff}';
/** 132 bits, in base64url. */
const CHECKSUM_LENGTH = 22;

export function startOf({ search }: UserGroupList): Position {
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
export function listedBytesOf({ mapping, properties }: UserGroup): number {
  return Buffer.byteLength(mapping ?? '') + Buffer.byteLength(properties ?? '');
}

/**
 * The position as text, with a checksum over the list, so that a modified cursor or one of another list is rejected. The
 * checksum needs no key: a forged cursor only starts the caller's own list at another position.
 */
export function cursorOf(list: UserGroupList, position: Position): string {
  const parts = position.order === 'id' ? [position.providedId] : [position.name, position.providedId];
  return withChecksum(list, parts.join('\0'));
}

/** The position in a list that is ordered by numbers, with a checksum over the list that `scope` identifies. */
export function numberCursorOf(scope: readonly unknown[], after: number): string {
  return sealed(scope, String(after));
}

/** The number that `numberCursorOf` encoded for this list; null for any other text. */
export function numberOf(scope: readonly unknown[], cursor: string): number | null {
  const payload = payloadOf(cursor);
  return sealed(scope, payload) === cursor ? Number(payload) : null;
}

/** The position that `cursorOf` encoded for this list; null for any other text. */
export function positionOf(list: UserGroupList, cursor: string): Position | null {
  const payload = payloadOf(cursor);
  if (withChecksum(list, payload) !== cursor) return null;
  const parts = payload.split('\0');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return { order: 'id', providedId: first };
  return parts.length === 2 ? { order: 'name', name: first, providedId: second } : null;
}

function withChecksum({ workspaceId, environment, search, filter }: UserGroupList, payload: string): string {
  return sealed([workspaceId, environment, search, ...(filter ? [filter] : [])], payload);
}

function sealed(scope: readonly unknown[], payload: string): string {
  const text = JSON.stringify([...scope, payload]);
  const checksum = hash('sha256', text, 'base64url').slice(0, CHECKSUM_LENGTH);
  return checksum + Buffer.from(payload).toString('base64url');
}

function payloadOf(cursor: string): string {
  return Buffer.from(cursor.slice(CHECKSUM_LENGTH), 'base64url').toString();
}
