// After much was brought to a database at one time.

import type { BatchedStore } from '../store/batched-store.ts';

/** Nothing depends on it but the plans of the database: where it fails, the database does it by itself, a little later. */
export async function gatherStatistics(store: BatchedStore): Promise<void> {
  await store.write({ kind: 'gatherStatistics' }).catch(() => {});
}
