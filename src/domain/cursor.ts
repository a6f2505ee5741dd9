// Cursors of lists: a position as text, with a checksum over the list, so that a modified cursor or one of another list is
// rejected. The checksum needs no key: a forged cursor only starts the caller's own list at another position.

import { hash } from 'node:crypto';

/** 132 bits, in base64url. */
const CHECKSUM_LENGTH = 22;

/** Identity of a list: its name, its workspace and environment, and its search. Its JSON is part of cursors. */
export type ListName = readonly unknown[];

export function encodeCursor(list: ListName, position: string): string {
  const text = JSON.stringify([...list, position]);
  const checksum = hash('sha256', text, 'base64url').slice(0, CHECKSUM_LENGTH);
  return checksum + Buffer.from(position).toString('base64url');
}

/** The position that `encodeCursor` encoded for this list; null for any other text. */
export function decodeCursor(list: ListName, cursor: string): string | null {
  const position = Buffer.from(cursor.slice(CHECKSUM_LENGTH), 'base64url').toString();
  return encodeCursor(list, position) === cursor ? position : null;
}
