// The cost of metrics: the processor time per request of two processes, with and without them, in alternating rounds.

import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { freePort } from '../test/support/postgres/server.ts';
import { median } from './median.ts';
import { operations } from './operation.ts';
import { processorTime } from './processor-time.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { load } from './wrk.ts';

const CONNECTIONS = 32;
const OPERATIONS = ['get', 'resolve', 'create'];

interface MetricsCostOptions {
  folder: string;
  groups: number;
  rounds: number;
  seconds: number;
  report: (text: string) => void;
}

interface Measured {
  service: ServerProcess;
  database: SeededDatabase;
}

export async function measureMetrics({
  folder,
  groups,
  rounds,
  seconds,
  report,
}: MetricsCostOptions): Promise<void> {
  report(`creating ${groups} user groups`);
  const without = await seed(join(folder, 'without'), groups);
  const withThem = copyOf(without, join(folder, 'with'));
  const env = { UGS_METRICS_ADDRESS: `127.0.0.1:${await freePort()}` };
  await using off = await startService(without);
  await using on = await startService(withThem, [], env);
  const pair = { off: { service: off, database: without }, on: { service: on, database: withThem } };
  const rows: string[][] = [];
  for (const name of OPERATIONS) {
    const [offMicros, onMicros] = [[] as number[], [] as number[]];
    // Round 0 warms up and does not count. The order alternates too: the first of a pair has colder caches.
    for (let round = 0; round <= rounds; round++) {
      const micros = { off: 0, on: 0 };
      const order = round % 2 === 0 ? (['off', 'on'] as const) : (['on', 'off'] as const);
      for (const each of order) micros[each] = await microsPerRequest(pair[each], name, seconds);
      if (round === 0) continue;
      offMicros.push(micros.off);
      onMicros.push(micros.on);
      report(`${name}, round ${round}: ${micros.off.toFixed(1)} and ${micros.on.toFixed(1)} us per request`);
    }
    const ratios = onMicros.map((each, round) => each / offMicros[round]!);
    const [lowest, highest] = [Math.min(...ratios), Math.max(...ratios)];
    const figures = [median(offMicros), median(onMicros)].map((each) => each.toFixed(1));
    rows.push([name, ...figures, median(ratios).toFixed(3), `${lowest.toFixed(3)} to ${highest.toFixed(3)}`]);
  }
  printTable(['operation', 'us without', 'us with', 'ratio', 'range'], rows);
}

async function microsPerRequest(
  { service, database }: Measured,
  name: string,
  seconds: number,
): Promise<number> {
  const operation = operations.find((each) => each.name === name)!;
  const before = processorTime(service.processId);
  const { requestsPerSecond } = await load({
    url: service.url,
    operation,
    database,
    seconds,
    connections: CONNECTIONS,
  });
  return (processorTime(service.processId) - before) / (requestsPerSecond * seconds);
}
