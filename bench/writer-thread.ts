// Does the SQLite writer belong in a thread of its own? The same load on the service with its writer in a thread
// and with its writer on the thread that serves, on the disk as it is and on one that syncs slowly.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { printTable } from '../src/commands/output.ts';
import { send } from '../test/http.ts';
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
  /** How much longer each sync of the slow disk takes. */
  syncDelayMs: number;
  say: (text: string) => void;
}

interface Figures {
  createsAlone: Round;
  creates: Round;
  gets: Round;
  delay: EventLoopDelay;
}

const writers = {
  'in its thread': [],
  'on the serving thread': ['--writer-on-serving-thread'],
} as const;

export async function compareWriters(options: WriterThreadOptions): Promise<void> {
  const { folder, groups, syncDelayMs, say } = options;
  const database = await seed(join(folder, 'seeded'), groups);
  const disks: [string, string[]][] = [['as it is', []]];
  if (hasStrace()) disks.push([`+ ${syncDelayMs} ms a sync`, slowSync(syncDelayMs)]);
  else say('strace is not installed, so there is no slow disk: "apt install strace" on Debian and Ubuntu');
  const rows: string[][] = [];
  for (const [disk, under] of disks) {
    for (const [writer, flags] of Object.entries(writers)) {
      say(`disk ${disk}, writer ${writer}`);
      const copy = copyOf(database, join(folder, `copy-${rows.length}`));
      await using server = await startVariant(copy, flags, under);
      rows.push([disk, writer, ...cellsOf(await measureWriter(server, copy, options))]);
    }
  }
  printTable(
    [
      'disk',
      'writer',
      'creates/s',
      'creates/s beside GETs',
      'GETs/s',
      'GET p99 ms',
      'delay p99 ms',
      'max ms',
    ],
    rows,
  );
  console.log('\ndelay: of the event loop that serves, during creates and GETs at one time');
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

/** SQLite syncs with one of these calls, which depends on how it was built. -D: the child is Node, not strace. */
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
