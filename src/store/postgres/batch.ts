// A batch mixes kinds, and each kind is a statement of its own: taking batches apart and putting results together.

/** The places in the list that items of each kind have. */
export function placesByKind<Kind>(items: readonly { kind: Kind }[]): Map<Kind, number[]> {
  const places = new Map<Kind, number[]>();
  for (const [place, { kind }] of items.entries()) {
    const known = places.get(kind);
    if (known === undefined) places.set(kind, [place]);
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
