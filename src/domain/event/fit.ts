// Reduces changes to the limit of an event: keeps the names of what differs, then as many values as fit,
// smallest first.

import { type Difference, truncated } from './difference.ts';

/** The punctuation of the stored form: of the whole, of a field, of a value, and of a truncated member. */
const FRAME_BYTES = '{"from":{},"to":{},"truncated":{}}'.length;
const FIELD_BYTES = 3 * ':{},'.length;
const VALUE_BYTES = ':,'.length;
const MARK_BYTES = ':true,'.length;

/**
 * Truncates differences so that their stored form has at most `maxBytes`, if these suffice for the names of
 * the fields. A field whose changed members cannot all be named is truncated as a whole.
 */
export function fitted(differences: readonly Difference[], maxBytes: number): readonly Difference[] {
  const fields = Map.groupBy(differences, ({ field }) => field);
  let left = maxBytes - FRAME_BYTES - sum([...fields.keys()], fieldBytes);
  const take = (bytes: number): boolean => {
    const isLeft = bytes <= left;
    if (isLeft) left -= bytes;
    return isLeft;
  };
  if (take(sum(differences, valueBytes))) return differences;
  const named = [...fields.values()]
    .sort((a, b) => sum(a, markBytes) - sum(b, markBytes))
    .filter((ofField) => take(sum(ofField, markBytes)));
  const kept = named
    .flat()
    .sort((a, b) => extraBytes(a) - extraBytes(b))
    .filter((difference) => take(extraBytes(difference)));
  const [isNamed, isKept] = [new Set(named), new Set(kept)];
  return [...fields].flatMap(([field, ofField]) =>
    isNamed.has(ofField)
      ? ofField.map((difference) => (isKept.has(difference) ? difference : truncated(difference)))
      : [truncated({ field, member: null })],
  );
}

function fieldBytes(field: string): number {
  return 3 * Buffer.byteLength(field) + FIELD_BYTES;
}

function markBytes({ member }: Difference): number {
  return Buffer.byteLength(member ?? '') + MARK_BYTES;
}

/** Size of the values, without the name. */
function extraBytes(difference: Difference): number {
  return valueBytes(difference) - markBytes(difference);
}

function valueBytes({ member, from, to }: Difference): number {
  const nameBytes = Buffer.byteLength(member ?? '') + VALUE_BYTES;
  const memberBytes = (value: string | undefined) =>
    value === undefined ? 0 : nameBytes + Buffer.byteLength(value);
  return memberBytes(from) + memberBytes(to);
}

function sum<Item>(items: readonly Item[], measureBytes: (item: Item) => number): number {
  return items.reduce((total, item) => total + measureBytes(item), 0);
}
