// Lists of user groups over HTTP.

import assert from 'node:assert/strict';
import type { TestResponse } from '../http.ts';
import type { TestService } from '../service.ts';

export interface ListedGroup {
  team_id: number;
  name: string;
  provided_id: string;
}

export interface ListQuery {
  limit?: number | string;
  cursor?: string;
  [filter: string]: string | number | boolean | undefined;
}

export function listPage(service: TestService, token: string, query: ListQuery = {}): Promise<TestResponse> {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return service.call('GET', `/v1/user-groups?${new URLSearchParams(parameters)}`, undefined, { token });
}

/** Reads all pages; calls `between` after each. */
export async function listPages(
  service: TestService,
  token: string,
  query: ListQuery = {},
  between: (page: number) => Promise<unknown> = async () => {},
): Promise<ListedGroup[][]> {
  const pages: ListedGroup[][] = [];
  for (let next = query; ; ) {
    assert.ok(pages.length <= 1_000, 'the list has an end');
    const { status, json, text } = await listPage(service, token, next);
    assert.equal(status, 200, text);
    assert.ok(json.user_groups.length <= Number(query.limit ?? 50));
    pages.push(json.user_groups);
    if (json.next_cursor === null) return pages;
    next = { ...query, cursor: json.next_cursor };
    await between(pages.length);
  }
}
