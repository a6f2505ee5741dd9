import type { Caller } from '../../domain/api-token.ts';
import { similarName } from '../../domain/suggest.ts';
import { listStart, type Position, positionAfter } from '../../domain/user-group/cursor.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult } from '../../store/port.ts';

const PAGE = { limit: 1_000, maxBytes: 8 * 1024 * 1024, withMappings: false, withProperties: false };
/** In a longer list only the first groups are considered. */
const MAX_PAGES = 100;

/** Returns the id of an existing group that is similar to the unknown id, or null. */
export async function suggestUserGroup(
  store: BatchingStore,
  { workspaceId, environment }: Caller,
  unknownId: string,
): Promise<string | null> {
  const list = { workspaceId, environment, search: '' };
  let suggestion: string | null = null;
  let from: Position | null = listStart(list);
  for (let page = 0; page < MAX_PAGES && from !== null; page++) {
    const { summaries, isEnd }: QueryResult<'listUserGroupSummaries'> = await store.read({
      kind: 'listUserGroupSummaries',
      list,
      from,
      ...PAGE,
    });
    const ids = summaries.map(({ providedId }) => providedId);
    suggestion = similarName(unknownId, suggestion === null ? ids : [suggestion, ...ids]);
    from = isEnd ? null : positionAfter('id', summaries.at(-1)!);
  }
  return suggestion;
}
