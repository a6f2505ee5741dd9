// Measures the latency of a page of a filtered list in a large SQLite database: a filter that no group meets
// reads as many groups as a page may, and one that every group meets reads no more than it returns.

import { join } from 'node:path';
import { printTable } from '../src/commands/terminal/output.ts';
import { send } from '../test/support/http.ts';
import { median } from './median.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';

const REQUESTS = 100;

/** Queries of one page each. */
const queries = {
  'no filter': '',
  'search, by prefix': 'search=customer',
  'contains: no match': 'search=no+such+group&match=contains',
  'contains: every group': 'search=CUSTOMER&match=contains',
  'data_source: no match': 'data_source=no-such-source',
  'suspended: no match': 'suspended=true',
  'suspended: every group': 'suspended=false',
  'seen_before: every group': 'seen_before=2100-01-01T00:00:00Z',
  'all of them: no match':
    'search=no+such+group&match=contains&data_source=x&suspended=false&seen_before=2100-01-01T00:00:00Z',
};

interface FiltersOptions {
  folder: string;
  groups: number;
  report: (text: string) => void;
}

export async function measureFilters({ folder, groups, report }: FiltersOptions): Promise<void> {
  report(`creating ${groups} user groups`);
  const database = await seed(join(folder, 'filters'), groups);
  await using service = await startService(database);
  const times = Object.fromEntries(Object.keys(queries).map((name): [string, number[]] => [name, []]));
  const found: Record<string, number> = {};
  for (let request = 0; request < REQUESTS; request++) {
    for (const [name, query] of Object.entries(queries)) {
      const startedAt = performance.now();
      const path = `/v1/user-groups?${query}`;
      const response = await send(service.url, { path, token: database.apiToken });
      times[name]!.push(performance.now() - startedAt);
      if (response.status !== 200) throw new Error(`${name} returned ${response.status}: ${response.text}`);
      found[name] = response.json.user_groups.length;
    }
  }
  const rows = Object.entries(times).map(([name, each]) => [
    name,
    String(found[name]),
    median(each).toFixed(2),
    each.toSorted((a, b) => a - b)[Math.floor(REQUESTS * 0.99)]!.toFixed(2),
  ]);
  printTable([`a page among ${groups} groups`, 'groups on it', 'p50 ms', 'p99 ms'], rows);
}
