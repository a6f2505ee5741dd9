// Three-way merge of fields: what a person changed, and what others have changed since the form was opened. Only
// a field that both sides changed is a conflict.

export type Fields = ReadonlyMap<string, string>;

/** `undefined`: absent. */
export interface Difference {
  name: string;
  from: string | undefined;
  to: string | undefined;
}

export interface Merge<Merged = Map<string, string>, Change = Difference> {
  /** The merged fields, with the value of the person where both sides changed one. */
  fields: Merged;
  /** Changed by both sides, from the stored value to the person's. */
  conflicts: Change[];
  /** Changed by others only. */
  others: Change[];
  /** Changed by the person only. */
  own: Change[];
}

/** `base` is what the form was opened with; null if unknown: then everything that differs is a conflict. */
export function threeWayMerge(base: Fields | null, mine: Fields, stored: Fields): Merge {
  const merge: Merge = { fields: new Map(), conflicts: [], others: [], own: [] };
  for (const name of new Set([...stored.keys(), ...mine.keys()])) {
    const [before, typed, now] = [base?.get(name), mine.get(name), stored.get(name)];
    const isMine = base === null || typed !== before;
    const value = isMine ? typed : now;
    if (value !== undefined) merge.fields.set(name, value);
    if (typed === now) continue;
    if (!isMine) merge.others.push({ name, from: before, to: now });
    else if (base === null || now !== before) merge.conflicts.push({ name, from: now, to: typed });
    else merge.own.push({ name, from: now, to: typed });
  }
  return merge;
}
