// Writes JSON objects. `JSON.stringify` cannot be used: stored JSON must appear in a response unchanged,
// digit for digit.

import type { JsonText } from '../domain/json/strict-json.ts';

/** Serialized JSON. */
export class Json {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Stored JSON, inserted unchanged. */
export function raw(text: JsonText | null): Json {
  return new Json(text ?? 'null');
}

type Member = string | number | boolean | null | Json | undefined;

export type Members = Readonly<Record<string, Member>>;

const START = '{';

/** Writes members in order, and leaves out those that are undefined. Names must not need escaping. */
export function jsonObject(members: Members): Json {
  return new Json(`${membersText(members, START)}}`);
}

/** Concatenates: `join` would copy the elements once more than sending the response does. */
export function jsonArray(elements: readonly Json[]): Json {
  let array = '';
  for (const { text } of elements) array += array === '' ? text : `,${text}`;
  return new Json(`[${array}]`);
}

export function successBody(members: Members): string {
  return `${membersText(members, '{"success":1')}}`;
}

/** `text` is what precedes the members. */
function membersText(members: Members, text: string): string {
  for (const name in members) {
    const value = members[name];
    if (value === undefined) continue;
    const separator = text === START ? '' : ',';
    text += `${separator}"${name}":${memberText(value)}`;
  }
  return text;
}

function memberText(value: Exclude<Member, undefined>): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return value instanceof Json ? value.text : `${value}`;
}
