import type { BatchingStore } from '../../store/batching-store.ts';
import type { Query, QueryKind, QueryResult } from '../../store/port.ts';

/** Less than the timeout of a scrape, whatever the timeouts of the database. */
const QUERY_MS = 2_000;

/** Reads the value of a metric. Throws `StoreUnavailable`. */
export function readForScrape<Kind extends QueryKind>(
  store: BatchingStore,
  query: Query<Kind>,
): Promise<QueryResult<Kind>> {
  const bounded = store.until(performance.now() + QUERY_MS);
  return bounded.inTime(bounded.read(query));
}
