// Where the processor time of the service goes during an operation: V8's sampling profiler, summed by function.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { printTable } from '../src/commands/output.ts';
import { operationOf } from './operation.ts';
import { seed } from './seed.ts';
import { startService } from './service.ts';
import { load } from './wrk.ts';

const CONNECTIONS = 32;
const SHOWN = 40;
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The part of the format .cpuprofile that is read. Times are microseconds. */
interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
}

export interface ProfileOptions {
  folder: string;
  seconds: number;
  groups: number;
}

/** Prints a table for each thread of the service that ran JavaScript. */
export async function profile(name: string, { folder, seconds, groups }: ProfileOptions): Promise<void> {
  const database = await seed(join(folder, 'service'), groups);
  const profiles = join(folder, 'profiles');
  {
    await using service = await startService(database, ['--cpu-prof', `--cpu-prof-dir=${profiles}`]);
    const { url } = service;
    const operation = operationOf(name);
    await load({ url, operation, database, seconds, connections: CONNECTIONS, tokens: database.tokens });
  }
  // Node writes them when the process ends, one for each thread.
  for (const file of readdirSync(profiles).sort()) {
    const text = readFileSync(join(profiles, file), 'utf8');
    console.log(`\n${file}`);
    printSelfTimes(JSON.parse(text) as Profile);
  }
}

function printSelfTimes({ nodes, samples, timeDeltas }: Profile): void {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const selfTimes = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const place = places.get(id)!;
    selfTimes.set(place, (selfTimes.get(place) ?? 0) + timeDeltas[index]!);
  }
  const idle = selfTimes.get('(idle)') ?? 0;
  selfTimes.delete('(idle)');
  const busy = [...selfTimes.values()].reduce((sum, time) => sum + time, 0);
  console.log(`busy ${(busy / 1e6).toFixed(1)} s, idle ${(idle / 1e6).toFixed(1)} s`);
  const rows = [...selfTimes].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  printTable(
    ['self %', 'function'],
    rows.map(([place, time]) => [((time / busy) * 100).toFixed(1), place]),
  );
}

function placeOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const path = url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url;
  return `${name} ${path}:${lineNumber + 1}`;
}
