// Where a list of user groups goes on, and the cursors that tell it to a caller and back.
//
// A list is in the order of the groups' ids, byte for byte. A search lists first the groups whose id begins with
// the text, in that order, and then those of which only the name does, in the order of their names.

import { hash } from 'node:crypto';
import { limits } from './field.ts';
import type { Environment, UserGroup } from './user-group.ts';

/** A list that a caller can ask for. Its pages may differ in size. */
export interface UserGroupList {
  workspaceId: number;
  environment: Environment;
  /** Begins the id or the name of each group; empty for all groups. */
  search: string;
}

/** The first place in the order of ids, or of names, that a group of the next page may have. */
export type Position =
  | { order: 'id'; providedId: string }
  | { order: 'name'; name: string; providedId: string };

/** Ids hold no control character, so that none of them lies between an id and the same id with this one behind it. */
const NEXT = '\u0001';
const LAST_CODE_POINT = '\u{10ffff}';
/** 132 bits, in base64url. */
const SEAL_LENGTH = 22;

export function startOf({ search }: UserGroupList): Position {
  return { order: 'id', providedId: search };
}

/** The place just behind the group. */
export function positionAfter(order: Position['order'], { name, providedId }: UserGroup): Position {
  const next = providedId + NEXT;
  return order === 'id' ? { order, providedId: next } : { order, name, providedId: next };
}

/** Where the list goes on when all groups of one order are listed; null where that is its end. */
export function startOfNextOrder(order: Position['order'], { search }: UserGroupList): Position | null {
  return order === 'id' && search !== '' ? { order: 'name', name: search, providedId: '' } : null;
}

/** No id or name that begins with the text comes behind this one: none is longer. */
export function lastWith(search: string): string {
  return search + LAST_CODE_POINT.repeat(limits.textCodePoints);
}

/** What a group adds to the size of a page, but for what is short. */
export function listedBytesOf({ mapping, properties }: UserGroup): number {
  return Buffer.byteLength(mapping ?? '') + Buffer.byteLength(properties ?? '');
}

/**
 * The position as text. It is sealed for its list, so that a cursor that was changed, or that belongs to another list,
 * is found out. The seal needs no key: whoever makes a cursor up begins his own list at another place.
 */
export function cursorOf(list: UserGroupList, position: Position): string {
  const parts = position.order === 'id' ? [position.providedId] : [position.name, position.providedId];
  return sealed(list, parts.join('\0'));
}

/** The position that `cursorOf` has made a text of for this list; null for every other text. */
export function positionOf(list: UserGroupList, cursor: string): Position | null {
  const payload = Buffer.from(cursor.slice(SEAL_LENGTH), 'base64url').toString();
  if (sealed(list, payload) !== cursor) return null;
  const parts = payload.split('\0');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return { order: 'id', providedId: first };
  return parts.length === 2 ? { order: 'name', name: first, providedId: second } : null;
}

function sealed({ workspaceId, environment, search }: UserGroupList, payload: string): string {
  const text = JSON.stringify([workspaceId, environment, search, payload]);
  return hash('sha256', text, 'base64url').slice(0, SEAL_LENGTH) + Buffer.from(payload).toString('base64url');
}
