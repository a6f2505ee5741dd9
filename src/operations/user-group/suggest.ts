import type { Caller } from '../../domain/api-token.ts';
import { similarName } from '../../domain/suggest.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { summaryPages } from './summaries.ts';

const ONLY_IDS = { withMappings: false, withProperties: false };
/** Maximum number of reads; in a longer list, only the first groups are considered. */
const MAX_READS = 50;

/** Returns the id of an existing group that is similar to the unknown id, or null. */
export async function suggestUserGroup(
  store: BatchingStore,
  caller: Caller,
  unknownId: string,
): Promise<string | null> {
  let suggestion: string | null = null;
  let reads = 0;
  for await (const { summaries } of summaryPages(store, caller, ONLY_IDS)) {
    const ids = summaries.map(({ providedId }) => providedId);
    suggestion = similarName(unknownId, suggestion === null ? ids : [suggestion, ...ids]);
    if (++reads === MAX_READS) break;
  }
  return suggestion;
}
