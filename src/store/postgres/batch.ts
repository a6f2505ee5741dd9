// Reassembles the results of a batch that was split into statements, by kind of query or by part.

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
