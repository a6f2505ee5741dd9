// Reads the fields of many user groups that filters and figures need, in queries small enough not to slow
// lookups down.

import { type Tenant, tenantOf } from '../../domain/tenant.ts';
import {
  listStart,
  type Position,
  positionAfter,
  startOfNextOrder,
  type UserGroupList,
} from '../../domain/user-group/cursor.ts';
import type { ReadFields } from '../../domain/user-group/user-group-filter.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { QueryResult, UserGroupSummary } from '../../store/port.ts';

/** Maximum number of groups per query; a scan of many groups is many queries, which are paced. */
const SUMMARIES = 2_000;
/** Maximum bytes per query: skipped by SQLite, which takes time too, and transferred and parsed. */
const SKIPPED_BYTES = 8 * 1024 * 1024;
const PARSED_BYTES = 1024 * 1024;

export interface Summaries {
  order: Position['order'];
  summaries: readonly UserGroupSummary[];
  /** Start of the next query; null at the end of the list. */
  next: Position | null;
  /** Number of groups up to `next`. */
  scanned: number;
}

/**
 * Maximum number of groups that one query searches for a text, which takes as long as reading a sixteenth of
 * them.
 */
const SEARCHED = 32_000;

/** Finds groups that may contain the text, in name order; see `searchableText`. */
export async function searchSummaries(
  store: BatchingStore,
  list: UserGroupList,
  from: Position,
  { text, scanLimit, limit }: { text: string | null; scanLimit: number; limit: number },
): Promise<Summaries> {
  const { summaries, scanned, last }: QueryResult<'searchUserGroups'> = await store.read({
    kind: 'searchUserGroups',
    tenant: tenantOf(list),
    from: { name: '', ...from },
    text,
    scanLimit: Math.min(scanLimit, SEARCHED),
    limit: Math.min(limit, SUMMARIES),
  });
  const next = last === null ? null : positionAfter('name', last);
  return { order: 'name', summaries, next, scanned };
}

/** Yields the summaries of all groups of an environment, query by query. */
export async function* summaryPages(
  store: BatchingStore,
  tenant: Tenant,
  reading: ReadFields & { limit?: number },
): AsyncGenerator<Summaries> {
  const list = { ...tenantOf(tenant), search: '' };
  for (let from: Position | null = listStart(list); from !== null; ) {
    const page = await readSummaries(store, list, from, reading);
    yield page;
    from = page.next;
  }
}

export async function readSummaries(
  store: BatchingStore,
  list: UserGroupList,
  from: Position,
  { limit = SUMMARIES, ...fields }: ReadFields & { limit?: number },
): Promise<Summaries> {
  const { order } = from;
  const { summaries, isEnd }: QueryResult<'listUserGroupSummaries'> = await store.read({
    kind: 'listUserGroupSummaries',
    list,
    from,
    ...fields,
    limit: Math.min(limit, SUMMARIES),
    maxBytes: fields.withMappings || fields.withProperties ? PARSED_BYTES : SKIPPED_BYTES,
  });
  const next = isEnd ? startOfNextOrder(order, list) : positionAfter(order, summaries.at(-1)!);
  return { order, summaries, next, scanned: summaries.length };
}
