// Splits a batch into statements (by kind of query, or by part) and reassembles the results.

/** The indexes of each distinct value, in order of first occurrence. */
export function groupIndexes<Value>(values: readonly Value[]): Map<Value, number[]> {
  const indexes = new Map<Value, number[]>();
  for (const [index, value] of values.entries()) {
    const known = indexes.get(value);
    if (known === undefined) indexes.set(value, [index]);
    else known.push(index);
  }
  return indexes;
}

/** Stores each value at its index in the list. */
export function scatter<Value>(list: Value[], indexes: readonly number[], values: readonly Value[]): void {
  for (const [position, index] of indexes.entries()) list[index] = values[position]!;
}

/** The first item of each key. */
export function firstOfEach<Item>(items: readonly Item[], uniqueKey: (item: Item) => string): Item[] {
  const firsts = new Map<string, Item>();
  for (const item of items) {
    const key = uniqueKey(item);
    if (!firsts.has(key)) firsts.set(key, item);
  }
  return [...firsts.values()];
}
