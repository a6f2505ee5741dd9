import type { Caller } from '../../domain/api-token.ts';
import { similarName } from '../../domain/suggest.ts';
import { listStart, type Position } from '../../domain/user-group/cursor.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { readSummaries, type Summaries } from './summaries.ts';

const ONLY_IDS = { withMappings: false, withProperties: false };
/** Maximum number of reads; in a longer list, only the first groups are considered. */
const MAX_READS = 50;

/** Returns the id of an existing group that is similar to the unknown id, or null. */
export async function suggestUserGroup(
  store: BatchingStore,
  { workspaceId, environment }: Caller,
  unknownId: string,
): Promise<string | null> {
  const list = { workspaceId, environment, search: '' };
  let suggestion: string | null = null;
  let from: Position | null = listStart(list);
  for (let reads = 0; reads < MAX_READS && from !== null; reads++) {
    const { summaries, next }: Summaries = await readSummaries(store, list, from, ONLY_IDS);
    const ids = summaries.map(({ providedId }) => providedId);
    suggestion = similarName(unknownId, suggestion === null ? ids : [suggestion, ...ids]);
    from = next;
  }
  return suggestion;
}
