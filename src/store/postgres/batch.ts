// Taking a batch apart into what is a statement of its own, kinds of queries or parts of commands, and putting the
// results together.

/** The places in the list that each value has, by value in the order in which they come. */
export function placesOf<Value>(values: readonly Value[]): Map<Value, number[]> {
  const places = new Map<Value, number[]>();
  for (const [place, value] of values.entries()) {
    const known = places.get(value);
    if (known === undefined) places.set(value, [place]);
    else known.push(place);
  }
  return places;
}

/** Puts each value at its place in the list. */
export function putInPlace<Value>(list: Value[], places: readonly number[], values: readonly Value[]): void {
  for (const [index, place] of places.entries()) list[place] = values[index]!;
}

/** The items without those whose key an earlier one has. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  const firsts = new Map<string, Item>();
  for (const item of items) {
    const key = keyOf(item);
    if (!firsts.has(key)) firsts.set(key, item);
  }
  return [...firsts.values()];
}
