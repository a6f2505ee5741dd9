// JSON values as JSON Schema sees them, as `parseExactly` returns them.

import { ExactNumber, isNumber } from './exact-number.ts';

export type ObjectValue = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is ObjectValue {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}

export const types = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'] as const;
export type Type = (typeof types)[number];

export function isOfType(value: unknown, type: Type): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'number':
      return isNumber(value);
    case 'integer':
      return value instanceof ExactNumber ? value.isInteger : Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

/** Equal values have the same text, regardless of the order of keys: comparing many takes linear time. */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (value instanceof ExactNumber) return value.canonicalText;
  if (!isObject(value)) return JSON.stringify(value === 0 ? 0 : value);
  const members = Object.keys(value).sort();
  return `{${members.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join(',')}}`;
}

export function countCodePoints(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) {
    if ((text.codePointAt(index) as number) > 0xffff) index++;
    count++;
  }
  return count;
}
