// Is a separate SQLite writer thread worthwhile? Runs the same load on the service with a writer thread and with the
// writer on the serving thread, on a regular disk and on one with slow syncs.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { send } from '../test/support/http.ts';
import { operationOf } from './operation.ts';
import { copyOf, type SeededDatabase, seed } from './seed.ts';
import type { ServerProcess } from './server-process.ts';
import { startVariant } from './service.ts';
import type { EventLoopDelay } from './variant.ts';
import { load, type Round } from './wrk.ts';

const CREATING_CONNECTIONS = 32;
const GETTING_CONNECTIONS = 8;
const WARM_UP_SECONDS = 3;

export interface WriterThreadOptions {
  folder: string;
  seconds: number;
  groups: number;
  /** The delay of each sync of the slow disk. */
  syncDelayMs: number;
  report: (text: string) => void;
}

interface Figures {
  createsAlone: Round;
  creates: Round;
  gets: Round;
  delay: EventLoopDelay;
}

const writers = {
  'writer thread': [],
  'serving thread': ['--writer-on-serving-thread'],
} as const;

export async function compareWriters(options: WriterThreadOptions): Promise<void> {
  const { folder, groups, syncDelayMs, report } = options;
  const database = await seed(join(folder, 'seeded'), groups);
  const disks: [string, string[]][] = [['regular', []]];
  if (hasStrace()) disks.push([`+ ${syncDelayMs} ms per sync`, slowSync(syncDelayMs)]);
  else report('strace is not installed, skipping the slow disk: "apt install strace" on Debian and Ubuntu');
  const rows: string[][] = [];
  for (const [disk, under] of disks) {
    for (const [writer, flags] of Object.entries(writers)) {
      report(`disk ${disk}, ${writer}`);
      const copy = copyOf(database, join(folder, `copy-${rows.length}`));
      await using server = await startVariant(copy, flags, under);
      rows.push([disk, writer, ...cellsOf(await measureWriter(server, copy, options))]);
    }
  }
  printTable(
    ['disk', 'writer', 'creates/s', 'creates/s with GETs', 'GETs/s', 'GET p99 ms', 'delay p99 ms', 'max ms'],
    rows,
  );
  console.log('\ndelay: of the event loop of the serving thread, during concurrent creates and GETs');
}

async function measureWriter(
  server: ServerProcess,
  database: SeededDatabase,
  { seconds }: WriterThreadOptions,
): Promise<Figures> {
  const run = (name: string, connections: number, duration = seconds) =>
    load({ url: server.url, operation: operationOf(name), database, seconds: duration, connections });
  await Promise.all([
    run('create', CREATING_CONNECTIONS, WARM_UP_SECONDS),
    run('get', GETTING_CONNECTIONS, WARM_UP_SECONDS),
  ]);
  const createsAlone = await run('create', CREATING_CONNECTIONS);
  await delaySince(server);
  const [creates, gets] = await Promise.all([
    run('create', CREATING_CONNECTIONS),
    run('get', GETTING_CONNECTIONS),
  ]);
  return { createsAlone, creates, gets, delay: await delaySince(server) };
}

async function delaySince({ url }: ServerProcess): Promise<EventLoopDelay> {
  return (await send(url, { path: '/event-loop-delay' })).json as EventLoopDelay;
}

function cellsOf({ createsAlone, creates, gets, delay }: Figures): string[] {
  const perSecond = [createsAlone, creates, gets].map(({ requestsPerSecond }) =>
    requestsPerSecond.toFixed(0),
  );
  return [...perSecond, ...[gets.p99Ms, delay.p99Ms, delay.maxMs].map((ms) => ms.toFixed(1))];
}

/** SQLite syncs with one of these calls, depending on its build. -D: the child process is Node, not strace. */
function slowSync(delayMs: number): string[] {
  const calls = 'fsync,fdatasync';
  return [
    ...['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null'],
    ...['-e', `trace=${calls}`, '-e', `inject=${calls}:delay_exit=${delayMs * 1_000}`],
  ];
}

function hasStrace(): boolean {
  try {
    execFileSync('strace', ['-V'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
