// Profiles the CPU time of the service during an operation with V8's sampling profiler, summed by function.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printTable } from '../src/commands/terminal/output.ts';
import { operationOf } from './operation.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';
import { load } from './wrk.ts';

const CONNECTIONS = 32;
const INTERVAL_MICROSECONDS = 200;
const SHOWN = 40;
const IDLE = '(idle)';
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Relevant part of the .cpuprofile format. Times are in microseconds. */
interface Profile {
  nodes: {
    id: number;
    children?: number[];
    callFrame: { functionName: string; url: string; lineNumber: number };
  }[];
  samples: number[];
  timeDeltas: number[];
}

interface ProfileOptions {
  folder: string;
  seconds: number;
  groups: number;
}

/** Prints a table for each thread of the service that ran JavaScript. */
export async function profile(name: string, { folder, seconds, groups }: ProfileOptions): Promise<void> {
  const database = await seed(join(folder, 'service'), groups);
  const profiles = join(folder, 'profiles');
  {
    await using service = await startService(database, [
      '--cpu-prof',
      `--cpu-prof-interval=${INTERVAL_MICROSECONDS}`,
      `--cpu-prof-dir=${profiles}`,
    ]);
    const { url } = service;
    const operation = operationOf(name);
    await load({ url, operation, database, seconds, connections: CONNECTIONS });
  }
  // Node writes one profile per thread when the process exits.
  for (const file of readdirSync(profiles).sort()) {
    const text = readFileSync(join(profiles, file), 'utf8');
    console.log(`\n${file}`);
    printTimes(JSON.parse(text) as Profile);
  }
}

function printTimes(profile: Profile): void {
  const { self, total } = timesOf(profile);
  const idle = self.get(IDLE) ?? 0;
  const busy = [...self.values()].reduce((sum, time) => sum + time, 0) - idle;
  console.log(`busy ${(busy / 1e6).toFixed(1)} s, idle ${(idle / 1e6).toFixed(1)} s`);
  const share = (time: number) => ((time / busy) * 100).toFixed(1);
  const rows = [...self]
    .filter(([location]) => location !== IDLE)
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([location, time]) => [share(time), share(total.get(location)!), location]);
  printTable(['self %', 'with callees %', 'function'], rows);
}

/** Returns microseconds in each function by itself, and including its callees. */
function timesOf({ nodes, samples, timeDeltas }: Profile): Record<'self' | 'total', Map<string, number>> {
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const locations = new Map(nodes.map(({ id, callFrame }) => [id, locationOf(callFrame)]));
  const self = new Map<string, number>();
  const total = new Map<string, number>();
  const add = (times: Map<string, number>, location: string, time: number) =>
    times.set(location, (times.get(location) ?? 0) + time);
  for (const [index, sample] of samples.entries()) {
    const stack = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = callers.get(id))
      stack.add(locations.get(id)!);
    add(self, locations.get(sample)!, timeDeltas[index]!);
    for (const location of stack) add(total, location, timeDeltas[index]!);
  }
  return { self, total };
}

function locationOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const path = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url;
  return `${name} ${path}:${lineNumber + 1}`;
}
