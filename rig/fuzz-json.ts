// JSON as callers may write it: numbers by their digits, characters as they are or escaped, white space wherever it
// may stand.

import type { Random } from './random.ts';

/** A number as it is written: one that JavaScript would round, too. */
export class Digits {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Stands for what a test only knows when it runs, such as the token of a group that it has made. */
export class Dynamic {
  readonly dynamic: string;

  constructor(dynamic: string) {
    this.dynamic = dynamic;
  }
}

export type Json =
  | string
  | number
  | boolean
  | null
  | Digits
  | Dynamic
  | readonly Json[]
  | { readonly [key: string]: Json };

const ESCAPED_SHARE = 0.2;
const SPACE_SHARE = 0.1;
const SPACES = [' ', '\t', '\n', '\r', '  '];

export interface Writing {
  /** What stands for each `Dynamic`, by its name. */
  known?: Readonly<Record<string, string>>;
  /** Chooses how the text is spelt; the shortest way without it. */
  spelling?: Random | undefined;
}

export function jsonText(value: Json, { known = {}, spelling }: Writing = {}): string {
  const space = () => (spelling?.chance(SPACE_SHARE) ? spelling.pick(SPACES) : '');
  const spaced = (text: string) => `${space()}${text}${space()}`;
  const string = (text: string) =>
    spelling === undefined
      ? JSON.stringify(text)
      : `"${Array.from(text, (each) => spelt(each, spelling)).join('')}"`;
  const print = (item: Json): string => {
    if (typeof item === 'string') return string(item);
    if (item instanceof Digits) return item.digits;
    if (item instanceof Dynamic) return string(known[item.dynamic]!);
    if (item === null || typeof item !== 'object') return String(item);
    if (Array.isArray(item)) return `[${item.map((each) => spaced(print(each))).join(',')}]`;
    const members = Object.entries(item).map(
      ([key, each]) => `${spaced(string(key))}:${spaced(print(each))}`,
    );
    return `{${members.join(',')}}`;
  };
  return spaced(print(value));
}

/** One character of a string. Of a surrogate pair both halves are escaped, or none. */
function spelt(character: string, spelling: Random): string {
  if (!spelling.chance(ESCAPED_SHARE)) return JSON.stringify(character).slice(1, -1);
  if (character === '/') return '\\/';
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
