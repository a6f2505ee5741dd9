// Work that does not fit into one step: it is read page by page, and done part by part.

/** Keyset pagination: yields the pages after an item until one is empty. */
export async function* pagesAfter<Item>(
  first: Item | null,
  read: (after: Item | null) => Promise<Item[]>,
): AsyncGenerator<Item[]> {
  for (let after = first; ; ) {
    const page = await read(after);
    if (page.length === 0) return;
    yield page;
    after = page.at(-1)!;
  }
}

/** Yields the pages of a list, each of which contains the cursor of the next. */
export async function* pagesOfList<Page extends { nextCursor: string | null }>(
  read: (next: { cursor?: string }) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let next: { cursor?: string } | null = {}; next !== null; ) {
    const page: Page = await read(next);
    yield page;
    next = page.nextCursor === null ? null : { cursor: page.nextCursor };
  }
}

/** Rows that SQLite changes in a few milliseconds. */
const BATCH = 250;

/**
 * Changes rows in small transactions; `change` returns how many it has changed. Returns whether none is left.
 */
export async function inBatches(
  change: (limit: number) => Promise<number>,
  maxBatches = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  for (let batch = 0; batch < maxBatches; batch++) if ((await change(BATCH)) < BATCH) return true;
  return false;
}

export function* chunks<Item>(items: Iterable<Item>, size: number): Generator<Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/** Works on `size` items at a time. */
export async function mapInChunks<Item, Result>(
  items: readonly Item[],
  size: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const chunk of chunks(items, size)) results.push(...(await Promise.all(chunk.map(work))));
  return results;
}
