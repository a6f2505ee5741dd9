// Compares the latency of the first and the last page of a list.

import { send } from '../test/support/http.ts';
import { median } from './median.ts';
import type { SeededDatabase } from './seed.ts';
import type { ServerProcess } from './server-process.ts';

const LONGEST_PAGE = 1_000;
const PAGE = 50;
const REQUESTS = 500;

/** Prints the latency of both pages for a single client. */
export async function comparePages(
  name: string,
  { url }: ServerProcess,
  { apiToken }: SeededDatabase,
): Promise<void> {
  const list = async (query: string) => {
    const response = await send(url, { path: `/v1/user-groups?${query}`, token: apiToken });
    if (response.status !== 200) throw new Error(`the list returned ${response.status}: ${response.text}`);
    return response.json as { user_groups: unknown[]; next_cursor: string | null };
  };
  let lastPage = { cursor: '', after: 0 };
  for (let cursor = '', after = 0; ; ) {
    const { user_groups, next_cursor } = await list(`limit=${LONGEST_PAGE}${cursor}`);
    if (user_groups.length >= PAGE) lastPage = { cursor, after };
    if (next_cursor === null) break;
    after += user_groups.length;
    cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
  }
  const times: Record<'first' | 'last', number[]> = { first: [], last: [] };
  for (let request = 0; request < REQUESTS; request++) {
    for (const [end, at] of [
      ['first', ''],
      ['last', lastPage.cursor],
    ] as const) {
      const startedAt = performance.now();
      await list(`limit=${PAGE}${at}`);
      times[end].push(performance.now() - startedAt);
    }
  }
  const [first, last] = [median(times.first), median(times.last)];
  console.log(
    `\nlist, ${name}: a page of ${PAGE} takes ${first.toFixed(2)} ms at the first group and ${last.toFixed(2)} ms ` +
      `after the ${lastPage.after}th: ${(last / first).toFixed(2)} x`,
  );
}
