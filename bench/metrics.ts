// The cost of metrics: processor time and instructions per request of two processes, with and without them, in
// alternating rounds.

import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { freePort } from '../test/support/postgres/server.ts';
import { instructionsDuring } from './instructions.ts';
import { median } from './median.ts';
import { operations } from './operation.ts';
import { processorTime } from './processor-time.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startService } from './service.ts';
import { load } from './wrk.ts';

const CONNECTIONS = 32;
const WARM_UP_ROUNDS = 3;
const OPERATIONS = ['get', 'resolve', 'create'];

interface MetricsCostOptions {
  folder: string;
  groups: number;
  rounds: number;
  seconds: number;
  report: (text: string) => void;
}

interface Pair<Each> {
  off: Each;
  on: Each;
}

/** Of a request. */
interface Cost {
  micros: number;
  instructions: number;
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
  const pair: Pair<Measured> = {
    off: { service: off, database: without },
    on: { service: on, database: withThem },
  };
  const rows: string[][] = [];
  for (const name of OPERATIONS) {
    const costs: Pair<Cost>[] = [];
    // Rounds 0 to 2 warm up and do not count. The order alternates too.
    for (let round = 0; round < WARM_UP_ROUNDS + rounds; round++) {
      const first = round % 2 === 0 ? 'off' : 'on';
      const firstCost = await costOf(pair[first], name, seconds);
      const secondCost = await costOf(pair[first === 'off' ? 'on' : 'off'], name, seconds);
      if (round < WARM_UP_ROUNDS) continue;
      costs.push(first === 'off' ? { off: firstCost, on: secondCost } : { off: secondCost, on: firstCost });
    }
    report(`measured ${name}`);
    rows.push([name, ...figuresOf(costs, 'micros'), ...figuresOf(costs, 'instructions')]);
  }
  printTable(['operation', 'us: without', 'with', 'ratio', 'instructions: without', 'with', 'ratio'], rows);
}

/** The medians, and the median of the ratios of the rounds. */
function figuresOf(costs: readonly Pair<Cost>[], figure: keyof Cost): string[] {
  const [off, on, ratio] = [
    costs.map((cost) => cost.off[figure]),
    costs.map((cost) => cost.on[figure]),
    costs.map((cost) => cost.on[figure] / cost.off[figure]),
  ].map(median);
  return [off!.toFixed(1), on!.toFixed(1), ratio!.toFixed(3)];
}

async function costOf({ service, database }: Measured, name: string, seconds: number): Promise<Cost> {
  const operation = operations.find((each) => each.name === name)!;
  const before = processorTime(service.processId);
  let requests = 0;
  const instructions = await instructionsDuring(service.processId, async () => {
    const options = { url: service.url, operation, database, seconds, connections: CONNECTIONS };
    requests = (await load(options)).requestsPerSecond * seconds;
  });
  const micros = processorTime(service.processId) - before;
  return { micros: micros / requests, instructions: instructions / requests };
}
