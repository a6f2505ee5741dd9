// JSON in all the forms that callers may send: numbers with arbitrary digits, characters literal or escaped, and
// whitespace wherever the grammar allows it.

import type { Random } from '../support/random.ts';

/** A number by its digits, which JavaScript might round. */
export class Digits {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

/** Placeholder for a value known only at run time, such as the token of a created group. */
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

interface Writing {
  /** The value of each `Dynamic`, by name. */
  known?: Readonly<Record<string, string>>;
  /** Chooses the form of the text; without it, the shortest form. */
  formatting?: Random | undefined;
}

export function jsonText(value: Json, { known = {}, formatting }: Writing = {}): string {
  const space = () => (formatting?.chance(SPACE_SHARE) ? formatting.pick(SPACES) : '');
  const spaced = (text: string) => `${space()}${text}${space()}`;
  const string = (text: string) =>
    formatting === undefined
      ? JSON.stringify(text)
      : `"${Array.from(text, (each) => formatCharacter(each, formatting)).join('')}"`;
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

/** Formats one character of a string. Both halves of a surrogate pair are escaped, or neither. */
function formatCharacter(character: string, formatting: Random): string {
  if (!formatting.chance(ESCAPED_SHARE)) return JSON.stringify(character).slice(1, -1);
  if (character === '/') return '\\/';
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
