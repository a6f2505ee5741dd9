// Cursors of lists that continue after one id: the id, with a checksum over the list, so that a modified cursor or one
// of another list is rejected. The checksum needs no key: a forged cursor only starts the caller's own list elsewhere.

import { hash } from 'node:crypto';

/** 132 bits, in base64url. */
const CHECKSUM_LENGTH = 22;

/** What identifies a list: its name, its workspace and environment, and its search. */
export type ListName = readonly (string | number)[];

export function cursorAfter(list: ListName, id: string): string {
  const checksum = hash('sha256', JSON.stringify([...list, id]), 'base64url').slice(0, CHECKSUM_LENGTH);
  return checksum + Buffer.from(id).toString('base64url');
}

/** The id that `cursorAfter` encoded for this list; null for any other text. */
export function idOfCursor(list: ListName, cursor: string): string | null {
  const id = Buffer.from(cursor.slice(CHECKSUM_LENGTH), 'base64url').toString();
  return cursorAfter(list, id) === cursor ? id : null;
}
