// Some lives of the service with every call recorded that changes its files or answers a caller: the database is
// made, filled and closed in order; filled until its log is copied back, and killed; recovered, and killed at work or,
// where syncs fail, when one has failed; recovered and closed in order.

import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApiToken, eventually, Folder, type Service, serve } from '../test/process.ts';
import { Conversation } from './conversation.ts';
import { SYNC } from './injection.ts';
import { inspect } from './inspection.ts';
import { type Entry, Journal, type JournalledRound, readRounds } from './journal.ts';
import { Ledger } from './ledger.ts';
import { Load } from './load.ts';
import { QUIET, writeScript } from './program.ts';
import { Random } from './random.ts';
import { CALLS, type Event, eventsOf, Replay } from './replay.ts';
import { recordingArguments } from './strace.ts';

const GROUPS = 60;
const CALLERS = 8;
/** SQLite copies 10 000 pages of its log to the database and begins the log anew. */
const FULL_LOG_BYTES = 10_000 * 4_096;
/** The fifteenth of a thread and each seventh after it: none of those that a start or a command needs. */
const FAILING = 'error=EIO:when=15+7';
/** In microseconds: a kill is likely to come between what is written and its sync. */
const SLOW = 'delay_enter=5000';
/** How often properties are large while the log is to be filled. */
const LARGE_SHARE = 0.5;

export interface Recording {
  /** The directory that the recorded disk begins with. */
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

export interface RecordOptions {
  /** Takes a trace of each process, the journal of the callers, and the details. */
  folder: string;
  random: Random;
  /** Of load, in each life. */
  rounds: number;
  /** Whether one life goes on until the log is full. */
  withCheckpoint: boolean;
  /** Whether some syncs fail while the service serves. */
  failsSyncs: boolean;
}

/** Throws `PromiseBroken`. */
export async function record(options: RecordOptions): Promise<void> {
  using root = new Folder();
  await using journal = await Journal.create(join(options.folder, 'journal'));
  const { rounds } = options;
  const recorder = new Recorder(options, root);
  await recorder.createApiToken(journal);
  await recorder.live({ rounds, end: 'SIGTERM' });
  if (options.withCheckpoint) await recorder.live({ rounds, end: 'SIGKILL', fillsLog: true });
  await recorder.live({ rounds, end: 'SIGKILL' });
  await recorder.live({ rounds, end: 'SIGTERM' });
  await recorder.finish();
}

class Recorder {
  readonly #options: RecordOptions;
  readonly #root: Folder;
  #traces = 0;
  #apiToken = '';
  #url = '';
  #conversation: Conversation | null = null;

  constructor(options: RecordOptions, root: Folder) {
    this.#options = options;
    this.#root = root;
  }

  async createApiToken(journal: Journal): Promise<void> {
    const { token } = await createApiToken(this.#root, [], { command: this.#tracedProgram([]) });
    this.#apiToken = token;
    const remember = (entry: Entry) => journal.append(entry);
    const url = () => this.#url;
    this.#conversation = new Conversation({ ledger: new Ledger(), remember, apiToken: token, url });
  }

  async live(life: { rounds: number; end: 'SIGTERM' | 'SIGKILL'; fillsLog?: true }): Promise<void> {
    const failing = this.#options.failsSyncs ? [FAILING] : [];
    const slow = life.end === 'SIGKILL' ? [SLOW] : [];
    const command = this.#tracedProgram([...failing, ...slow]);
    await using service = await serve(this.#root, { command, env: QUIET });
    this.#url = service.url;
    const log = this.#root.join('data/user-groups.db-wal');
    await inspect({ conversation: this.#conversation!, random: this.#options.random, replacedTokens: 0 });
    if (life.fillsLog) await this.#load(LARGE_SHARE).run(() => statSync(log).size < FULL_LOG_BYTES);
    if (life.end === 'SIGTERM') await this.#endAfterWork(service, life.rounds);
    else if (this.#options.failsSyncs) await this.#killAfterFailure(service, life.rounds);
    else await this.#killAtWork(service, life.rounds);
  }

  async #killAtWork(service: Service, rounds: number): Promise<void> {
    let begun = 0;
    let isAlive = true;
    const working = this.#load(0).run(() => isAlive && ++begun > 0);
    await eventually('the last round', () => begun >= rounds);
    await service.kill();
    isAlive = false;
    await working;
  }

  /** The last that the log holds is then a change that was refused, and is read as committed by the next life. */
  async #killAfterFailure(service: Service, rounds: number): Promise<void> {
    let begun = 0;
    await this.#load(0).run(() => begun++ < rounds);
    const conversation = this.#conversation!;
    const { refused } = conversation;
    await this.#load(0, 1).run(() => conversation.refused === refused);
    await service.kill();
  }

  async #endAfterWork(service: Service, rounds: number): Promise<void> {
    let begun = 0;
    await this.#load(0).run(() => begun++ < rounds);
    service.signal('SIGTERM');
    await service.exit();
  }

  async finish(): Promise<void> {
    for (let trace = 0; trace < this.#traces; trace++)
      await eventually('the end of a trace', () => hasEnded(this.#trace(trace)));
    const details: Details = { root: this.#root.path, apiToken: this.#apiToken, traces: this.#traces };
    writeFileSync(join(this.#options.folder, 'details'), JSON.stringify(details), { mode: 0o600 });
    if (!this.#options.failsSyncs) assertWhole(await readRecording(this.#options.folder));
  }

  #load(largeShare: number, callers = CALLERS): Load {
    const { random } = this.#options;
    const conversation = this.#conversation!;
    return new Load({ conversation, random, groups: GROUPS, callers, largeShare });
  }

  #trace(number: number): string {
    return tracePath(this.#options.folder, number);
  }

  /** A command that runs the program under strace, with the arguments that it gets itself. */
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

/** Throws where a call was missed that has changed a file. */
function assertWhole({ root, events }: Recording): void {
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

/** strace lives on for a moment after the process. */
function hasEnded(trace: string): boolean {
  const end = Buffer.alloc(LAST_BYTES);
  const file = openSync(trace, 'r');
  const length = readSync(file, end, 0, LAST_BYTES, Math.max(0, statSync(trace).size - LAST_BYTES));
  closeSync(file);
  return LAST_LINE.test(end.toString('latin1', 0, length));
}
