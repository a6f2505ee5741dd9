// Gathers planner statistics after a bulk load.

import type { BatchingStore } from '../../store/batching-store.ts';

/** Ignores failures: statistics affect only query plans, and the database gathers them automatically later. */
export async function gatherStatistics(store: BatchingStore): Promise<void> {
  await store.write({ kind: 'gatherStatistics' }).catch(() => {});
}
