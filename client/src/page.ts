// Builds query parameters, and iterates over the pages of lists.

import { wellFormed } from './argument.ts';
import { type CallOptions, type Connection, call } from './call.ts';

export interface PageRequest {
  /** Entries per page, 1 to 1000. Default: 50. */
  limit?: number | undefined;
  /** `next_cursor` of the previous page. */
  cursor?: string | undefined;
}

/** Returns the query with its question mark; empty without parameters. */
export function queryString(
  parameters: Readonly<Record<string, string | number | boolean | undefined>>,
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, wellFormed(name, String(value)));
  }
  return query.size > 0 ? `?${query}` : '';
}

/**
 * Iterates over the entries of all pages. `member` is their name in a response, and `query` contains the
 * parameters.
 */
export async function* entries<Entry>(
  connection: Connection,
  path: string,
  member: string,
  query: PageRequest,
  options: CallOptions,
): AsyncGenerator<Entry, void, void> {
  let next: string | null = query.cursor ?? null;
  do {
    const page = `${path}${queryString({ ...query, cursor: next ?? undefined })}`;
    const { body } = await call<Record<string, unknown>>(connection, { method: 'GET', path: page }, options);
    yield* body[member] as Entry[];
    next = body.next_cursor as string | null;
  } while (next !== null);
}
