// Generates load in a worker thread, so that other work of the rig does not delay it. In an open loop, a call
// is sent when it is due, regardless of earlier calls, and its latency counts from its due time.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type CallName, type CallTarget, calls } from './call.ts';
import { Connection, detailOf, hasRetryAfter, type Reply } from './connection.ts';

export interface CallLoad extends CallTarget {
  url: string;
  /** Calls that are sent in turn; only creates if absent. */
  mix?: readonly CallName[];
  /**
   * Maximum number of connections: due calls wait while all are in use. If absent, stays below the connection
   * limit of the service.
   */
  maxConnections?: number;
  seconds: number;
  /** Time until the queues are filled; the figures exclude calls that finish earlier. */
  warmUpSeconds: number;
  /** Open loop: calls due per second. Closed loop: callers that each send the next call after the previous response. */
  offer: { perSecond: number } | { callers: number };
}

interface CallFigures {
  /** Number of calls sent. */
  calls: number;
  served: VerdictFigures;
  /** Responses with 503 and Retry-After. */
  refused: VerdictFigures;
  /** Other responses, and calls without a response. */
  wrong: number;
  /** Wrong and rejected calls, including those during the warm-up. */
  notServed: number;
  /** Start of the first second in which all due calls were served. */
  allServedAfterSeconds: number;
}

interface VerdictFigures {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const MAX_CONNECTIONS = 8_000;
const ONLY_CREATES: readonly CallName[] = ['create'];
const TICK_MS = 2;
/** How long to wait for responses after the last call. */
const DRAIN_TIMEOUT_MS = 20_000;

/** Runs the load in a worker thread. */
export async function call(load: CallLoad): Promise<CallFigures> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const [figures] = await once(worker, 'message');
  await worker.terminate();
  return figures;
}

/**
 * Runs a small load in a separate process, for accurate latencies: the generator of the large load has a
 * queue of its own.
 */
export async function probe(load: CallLoad): Promise<CallFigures> {
  const prober = fork(new URL('./call-probe.ts', import.meta.url));
  // The load contains tokens, and other users can read command lines.
  prober.send(load);
  const [figures] = await once(prober, 'message');
  return figures as CallFigures;
}

type Verdict = 'served' | 'refused' | 'wrong';

export interface Outcome {
  verdict: Verdict;
  /** Status, and the detail of a problem. */
  reply: string;
  call: CallName;
  /** Id of the group that the call creates, if it creates one. */
  groupId: string;
  dueMs: number;
  tookMs: number;
}

export class Callers {
  readonly #load: CallLoad;
  readonly #mix: readonly CallName[];
  readonly #free: Connection[] = [];
  /** Due times of calls that wait for a free connection. */
  readonly #overdue: number[] = [];
  #connections = 0;
  readonly #outcomes: Outcome[] = [];
  readonly #startedAt = performance.now();
  #sent = 0;
  #calls = 0;

  /** `open` contains connections to use before opening others. */
  constructor(load: CallLoad, open: readonly Connection[] = []) {
    this.#load = load;
    this.#mix = load.mix ?? ONLY_CREATES;
    this.#free.push(...open);
    this.#connections = open.length;
  }

  async run(): Promise<CallFigures> {
    return this.#figures(await this.outcomes());
  }

  /** Runs the load. Returns one outcome per call that got a response. */
  async outcomes(): Promise<readonly Outcome[]> {
    const { offer, seconds } = this.#load;
    if ('callers' in offer)
      for (let caller = 0; caller < offer.callers; caller++) this.#send(this.#elapsedMs);
    for (let now = 0; now < seconds * 1_000; now = this.#elapsedMs) {
      if ('perSecond' in offer) this.#sendDue((now / 1_000) * offer.perSecond, 1_000 / offer.perSecond);
      await sleep(TICK_MS);
    }
    for (const end = this.#elapsedMs + DRAIN_TIMEOUT_MS; this.unanswered > 0; ) {
      if (this.#elapsedMs > end) break;
      await sleep(TICK_MS);
    }
    return this.#outcomes;
  }

  get unanswered(): number {
    return this.#sent - this.#outcomes.length;
  }

  get #elapsedMs(): number {
    return performance.now() - this.#startedAt;
  }

  #sendDue(due: number, intervalMs: number): void {
    while (this.#sent < due) this.#send(this.#sent * intervalMs);
  }

  #send(dueMs: number): void {
    this.#sent++;
    this.#start(dueMs);
  }

  #start(dueMs: number): void {
    const connection = this.#freeConnection() ?? this.#newConnection();
    if (connection === null) this.#overdue.push(dueMs);
    else this.#call(connection, dueMs);
  }

  /**
   * Returns the connection that has been free longest, skipping closed ones: the service closes a connection
   * that sends no request for ten seconds, or is idle for a minute.
   */
  #freeConnection(): Connection | null {
    for (let free = this.#free.shift(); free !== undefined; free = this.#free.shift()) {
      if (free.isOpen) return free;
      this.#connections--;
    }
    return null;
  }

  #newConnection(): Connection | null {
    const { url, maxConnections = MAX_CONNECTIONS } = this.#load;
    if (this.#connections === maxConnections) return null;
    this.#connections++;
    return new Connection(url);
  }

  #call(connection: Connection, dueMs: number): void {
    const index = this.#calls++;
    const call = this.#mix[index % this.#mix.length]!;
    const groupId = `${this.#load.prefix}${index}`;
    connection.send(calls[call](this.#load, groupId, index), (received) => {
      const tookMs = this.#elapsedMs - dueMs;
      const [verdict, reply] = [verdictOf(received), describeReply(received)];
      this.#record(connection, { verdict, reply, call, groupId, dueMs, tookMs });
    });
  }

  #record(connection: Connection, outcome: Outcome): void {
    this.#outcomes.push(outcome);
    if (connection.isOpen) this.#free.push(connection);
    else this.#connections--;
    const overdue = this.#overdue.shift();
    if (overdue !== undefined) this.#start(overdue);
    if ('callers' in this.#load.offer && this.#elapsedMs < this.#load.seconds * 1_000)
      this.#send(this.#elapsedMs);
  }

  /** Connections that no call is using, for another load. */
  get free(): readonly Connection[] {
    return this.#free;
  }

  #figures(outcomes: readonly Outcome[]): CallFigures {
    const { unanswered } = this;
    const notServed = outcomes.filter(({ verdict }) => verdict !== 'served');
    return {
      calls: this.#sent,
      served: this.#figuresOf('served'),
      refused: this.#figuresOf('refused'),
      wrong: unanswered + notServed.filter(({ verdict }) => verdict === 'wrong').length,
      notServed: unanswered + notServed.length,
      allServedAfterSeconds: firstWithout(notServed.map(({ dueMs }) => Math.floor(dueMs / 1_000))),
    };
  }

  #figuresOf(wanted: Verdict): VerdictFigures {
    const totalMs = this.#load.seconds * 1_000;
    const fromMs = this.#load.warmUpSeconds * 1_000;
    const taken = this.#outcomes.filter(
      ({ verdict, dueMs, tookMs }) =>
        verdict === wanted && dueMs + tookMs >= fromMs && dueMs + tookMs < totalMs,
    );
    const at = percentiles(taken.map(({ tookMs }) => tookMs));
    const perSecond = (taken.length * 1_000) / (totalMs - fromMs);
    return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}

/** Returns the percentile for a share of the values; 0 if there are none. */
export function percentiles(values: readonly number[]): (share: number) => number {
  const sorted = Float64Array.from(values).sort();
  return (share) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
}

/** The smallest whole number, from 0, that is not in the list. */
function firstWithout(numbers: readonly number[]): number {
  const taken = new Set(numbers);
  let first = 0;
  while (taken.has(first)) first++;
  return first;
}

function verdictOf(reply: Reply | null): Verdict {
  if (reply === null) return 'wrong';
  if (reply.status >= 200 && reply.status <= 299) return 'served';
  return reply.status === 503 && hasRetryAfter(reply) ? 'refused' : 'wrong';
}

function describeReply(reply: Reply | null): string {
  if (reply === null) return 'without response';
  const detail = detailOf(reply);
  return detail === null ? `${reply.status}` : `${reply.status} ${detail}`;
}

if (!isMainThread) parentPort?.postMessage(await new Callers(workerData as CallLoad).run());
