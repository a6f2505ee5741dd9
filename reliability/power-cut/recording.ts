// Runs the service several times and records every system call that changes its files or sends a response.
// The runs create and fill the database and shut down cleanly; fill it until a checkpoint and are killed;
// recover and are killed under load or, if syncs fail, after a failed sync; recover and shut down cleanly.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createApiToken, eventually, Folder, type Service, serve } from '../../test/support/process.ts';
import { SYNC } from '../support/injection.ts';
import { inspect } from '../support/inspection.ts';
import { type Entry, Journal, type JournalledRound, readRounds } from '../support/journal.ts';
import { Ledger } from '../support/ledger.ts';
import { Load } from '../support/load.ts';
import { QUIET, writeScript } from '../support/program.ts';
import { Random } from '../support/random.ts';
import { recordingArguments } from '../support/strace.ts';
import { Workload } from '../support/workload.ts';
import { CALLS, type Event, eventsOf, type OpenWrite, openWrites, Replay } from './replay.ts';

const GROUPS = 60;
const CALLERS = 8;
/** Log size at which SQLite copies the log to the database and restarts the log: 10 000 pages. */
const FULL_LOG_BYTES = 10_000 * 4_096;
/**
 * Fails the fifteenth sync of a thread and every seventh after it, none of which a start or a command needs.
 */
const FAILING = 'error=EIO:when=15+7';
/** Delay in microseconds, which makes a kill between a write and its sync likely. */
const SLOW = 'delay_enter=5000';
/** Share of large properties while the log is filled. */
const LARGE_SHARE = 0.5;

export interface Recording {
  /** The initial directory of the recorded disk. */
  root: string;
  apiToken: string;
  events: Event[];
  rounds: JournalledRound[];
}

interface Details {
  root: string;
  apiToken: string;
  traces: number;
}

interface RecordOptions {
  /** Receives a trace of each process, the journal of the callers, and the details. */
  folder: string;
  random: Random;
  /** Rounds of load in each run. */
  rounds: number;
  /** Whether one run continues until the log is full. */
  withCheckpoint: boolean;
  /** Whether some syncs fail while the service is running. */
  failsSyncs: boolean;
}

/** Throws `PromiseBroken`. */
export async function record(options: RecordOptions): Promise<void> {
  using root = new Folder();
  await using journal = await Journal.create(join(options.folder, 'journal'));
  const { rounds } = options;
  const recorder = new Recorder(options, root);
  await recorder.createApiToken(journal);
  await recorder.recordRun({ rounds, end: 'SIGTERM' });
  if (options.withCheckpoint) await recorder.recordRun({ rounds, end: 'SIGKILL', fillsLog: true });
  await recorder.recordRun({ rounds, end: 'SIGKILL' });
  await recorder.recordRun({ rounds, end: 'SIGTERM' });
  await recorder.finish();
}

class Recorder {
  readonly #options: RecordOptions;
  readonly #root: Folder;
  #traces = 0;
  #apiToken = '';
  #url = '';
  #workload: Workload | null = null;

  constructor(options: RecordOptions, root: Folder) {
    this.#options = options;
    this.#root = root;
  }

  async createApiToken(journal: Journal): Promise<void> {
    const { token } = await createApiToken(this.#root, [], { command: this.#tracedProgram([]) });
    await this.#endTrace();
    this.#apiToken = token;
    const persist = (entry: Entry) => journal.append(entry);
    const url = () => this.#url;
    this.#workload = new Workload({ ledger: new Ledger(), persist, apiToken: token, url });
  }

  async recordRun(run: { rounds: number; end: 'SIGTERM' | 'SIGKILL'; fillsLog?: true }): Promise<void> {
    const failing = this.#options.failsSyncs ? [FAILING] : [];
    const slow = run.end === 'SIGKILL' ? [SLOW] : [];
    const command = this.#tracedProgram([...failing, ...slow]);
    await using service = await serve(this.#root, { command, env: QUIET });
    this.#url = service.url;
    const log = this.#root.join('data/user-groups.db-wal');
    await inspect({ workload: this.#workload!, random: this.#options.random, replacedTokens: 0 });
    if (run.fillsLog) await this.#load(LARGE_SHARE).run(() => statSync(log).size < FULL_LOG_BYTES);
    if (run.end === 'SIGTERM') await this.#terminateAfterLoad(service, run.rounds);
    else if (this.#options.failsSyncs) await this.#killAfterFailure(service, run.rounds);
    else await this.#killUnderLoad(service, run.rounds);
    await this.#endTrace();
  }

  /**
   * Waits for strace, which exits slightly after the process. Completes calls that the kill interrupted but
   * that changed a file.
   */
  async #endTrace(): Promise<void> {
    const trace = this.#trace(this.#traces - 1);
    await eventually('the end of a trace', () => hasEnded(trace));
    for await (const open of openWrites(trace, this.#root.path))
      if (isWritten(open))
        appendFileSync(trace, `${open.thread} <... pwrite64 resumed>) = ${open.data.length}\n`);
  }

  async #killUnderLoad(service: Service, rounds: number): Promise<void> {
    let started = 0;
    let isAlive = true;
    const working = this.#load(0).run(() => isAlive && ++started > 0);
    await eventually('the last round', () => started >= rounds);
    await service.kill();
    isAlive = false;
    await working;
  }

  /**
   * Kills the service after a rejected change, which is then the end of the log, and which the next run reads
   * as committed.
   */
  async #killAfterFailure(service: Service, rounds: number): Promise<void> {
    let started = 0;
    await this.#load(0).run(() => started++ < rounds);
    const workload = this.#workload!;
    const { refused } = workload;
    await this.#load(0, 1).run(() => workload.refused === refused);
    await service.kill();
  }

  async #terminateAfterLoad(service: Service, rounds: number): Promise<void> {
    let started = 0;
    await this.#load(0).run(() => started++ < rounds);
    service.signal('SIGTERM');
    await service.exit();
  }

  async finish(): Promise<void> {
    const details: Details = { root: this.#root.path, apiToken: this.#apiToken, traces: this.#traces };
    writeFileSync(join(this.#options.folder, 'details'), JSON.stringify(details), { mode: 0o600 });
    if (!this.#options.failsSyncs) assertComplete(await readRecording(this.#options.folder));
  }

  #load(largeShare: number, callers = CALLERS): Load {
    const { random } = this.#options;
    const workload = this.#workload!;
    return new Load({ workload, random, groups: GROUPS, callers, largeShare });
  }

  #trace(number: number): string {
    return tracePath(this.#options.folder, number);
  }

  /** Returns a command that runs the program under strace and passes its arguments on. */
  #tracedProgram(faults: readonly string[]): string {
    const trace = this.#trace(this.#traces++);
    const injected = faults.length > 0 ? ['-e', [`inject=${SYNC}`, ...faults].join(':')] : [];
    return writeScript(`${trace}.sh`, ['strace', ...recordingArguments(trace, CALLS), ...injected]);
  }
}

export async function readRecording(folder: string): Promise<Recording> {
  const { root, apiToken, traces } = JSON.parse(readFileSync(join(folder, 'details'), 'utf8')) as Details;
  const events: Event[] = [];
  for (let trace = 0; trace < traces; trace++)
    for await (const event of eventsOf(tracePath(folder, trace), root)) events.push(event);
  return { root, apiToken, events, rounds: await readRounds(join(folder, 'journal')) };
}

/** Throws if the recording misses a call that changed a file. */
function assertComplete({ root, events }: Recording): void {
  using copy = new Folder();
  const replay = new Replay(root, false);
  for (const event of events) replay.apply(event);
  replay.disk.restore(copy.path, 'everything', new Random(0));
  assert.deepEqual(contentOf(copy.path), contentOf(root));
}

function contentOf(folder: string): (string | Buffer)[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return [...names, ...files.map((name) => readFileSync(join(folder, name)))];
}

function tracePath(folder: string, number: number): string {
  return join(folder, `trace-${number}`);
}

const LAST_LINE = /\+\+\+ (?:exited|killed) [^\n]*\n$/;
const LAST_BYTES = 200;

function isWritten({ path, offset, data }: OpenWrite): boolean {
  const content = Buffer.alloc(data.length);
  const file = openSync(path, 'r');
  const length = readSync(file, content, 0, data.length, offset);
  closeSync(file);
  return length === data.length && content.equals(data);
}

function hasEnded(trace: string): boolean {
  const end = Buffer.alloc(LAST_BYTES);
  const file = openSync(trace, 'r');
  const length = readSync(file, end, 0, LAST_BYTES, Math.max(0, statSync(trace).size - LAST_BYTES));
  closeSync(file);
  return LAST_LINE.test(end.toString('latin1', 0, length));
}
