// Load generation in a worker thread, so that other work of the rig does not delay it. In an open loop, a call is sent
// when it is due, regardless of earlier calls, and its latency counts from its due time.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface CallLoad {
  url: string;
  apiToken: string;
  /** The prefix of the ids of created groups. */
  prefix: string;
  seconds: number;
  /** Until the queues are filled: calls that finish earlier are excluded from the figures. */
  warmUpSeconds: number;
  /** Open loop: calls due per second. Closed loop: callers that each send the next call after the previous response. */
  offer: { perSecond: number } | { callers: number };
}

export interface CallFigures {
  /** Sent calls. */
  calls: number;
  served: OutcomeFigures;
  /** 503 with Retry-After. */
  refused: OutcomeFigures;
  /** Any other response, or none. */
  wrong: number;
  /** Wrong and rejected calls, including those during the warm-up. */
  notServed: number;
  /** The start of the first second in which all due calls were served. */
  allServedAfterSeconds: number;
}

interface OutcomeFigures {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Below the connection limit of the service. */
const MAX_CALLERS = 8_000;
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

/** Runs a small load in a process, for accurate latencies: the generator of the large load has a queue itself. */
export async function probe(load: CallLoad): Promise<CallFigures> {
  const prober = fork(new URL('./overload-probe.ts', import.meta.url));
  // Not on the command line, which other users can read.
  prober.send(load);
  const [figures] = await once(prober, 'message');
  return figures as CallFigures;
}

type Outcome = 'served' | 'refused' | 'wrong';

export class Callers {
  readonly #load: CallLoad;
  readonly #free: Caller[] = [];
  /** The due times of calls waiting for a free caller. */
  readonly #overdue: number[] = [];
  #callers = 0;
  readonly #outcomes: { outcome: Outcome; dueMs: number; tookMs: number }[] = [];
  readonly #startedAt = performance.now();
  #sent = 0;
  #calls = 0;

  constructor(load: CallLoad) {
    this.#load = load;
  }

  async run(): Promise<CallFigures> {
    const { offer, seconds } = this.#load;
    if ('callers' in offer)
      for (let caller = 0; caller < offer.callers; caller++) this.#send(this.#elapsedMs);
    for (let now = 0; now < seconds * 1_000; now = this.#elapsedMs) {
      if ('perSecond' in offer) this.#sendDue((now / 1_000) * offer.perSecond, 1_000 / offer.perSecond);
      await sleep(TICK_MS);
    }
    for (const end = this.#elapsedMs + DRAIN_TIMEOUT_MS; this.#outcomes.length < this.#sent; ) {
      if (this.#elapsedMs > end) break;
      await sleep(TICK_MS);
    }
    return this.#figures();
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
    const caller = this.#freeCaller() ?? this.#newCaller();
    if (caller === null) this.#overdue.push(dueMs);
    else this.#call(caller, dueMs);
  }

  /** Skips closed connections: the service closes connections that are idle for a minute. */
  #freeCaller(): Caller | null {
    for (let caller = this.#free.pop(); caller !== undefined; caller = this.#free.pop()) {
      if (caller.isOpen) return caller;
      this.#callers--;
    }
    return null;
  }

  #newCaller(): Caller | null {
    if (this.#callers === MAX_CALLERS) return null;
    this.#callers++;
    return new Caller(this.#load.url, this.#load.apiToken);
  }

  #call(caller: Caller, dueMs: number): void {
    const id = `${this.#load.prefix}${this.#calls++}`;
    caller.call(id, (outcome) => this.#record(caller, outcome, dueMs));
  }

  #record(caller: Caller, outcome: Outcome, dueMs: number): void {
    this.#outcomes.push({ outcome, dueMs, tookMs: this.#elapsedMs - dueMs });
    if (caller.isOpen) this.#free.push(caller);
    else this.#callers--;
    const overdue = this.#overdue.shift();
    if (overdue !== undefined) this.#start(overdue);
    if ('callers' in this.#load.offer && this.#elapsedMs < this.#load.seconds * 1_000)
      this.#send(this.#elapsedMs);
  }

  #figures(): CallFigures {
    const unanswered = this.#sent - this.#outcomes.length;
    const notServed = this.#outcomes.filter(({ outcome }) => outcome !== 'served');
    return {
      calls: this.#sent,
      served: this.#figuresOf('served'),
      refused: this.#figuresOf('refused'),
      wrong: unanswered + notServed.filter(({ outcome }) => outcome === 'wrong').length,
      notServed: unanswered + notServed.length,
      allServedAfterSeconds: firstWithout(notServed.map(({ dueMs }) => Math.floor(dueMs / 1_000))),
    };
  }

  #figuresOf(wanted: Outcome): OutcomeFigures {
    const totalMs = this.#load.seconds * 1_000;
    const fromMs = this.#load.warmUpSeconds * 1_000;
    const taken = this.#outcomes.filter(
      ({ outcome, dueMs, tookMs }) =>
        outcome === wanted && dueMs + tookMs >= fromMs && dueMs + tookMs < totalMs,
    );
    const sorted = Float64Array.from(taken, ({ tookMs }) => tookMs).sort();
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
    const perSecond = (sorted.length * 1_000) / (totalMs - fromMs);
    return { perSecond, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
  }
}

/** The smallest whole number, from 0, that is not in the list. */
function firstWithout(numbers: readonly number[]): number {
  const taken = new Set(numbers);
  let first = 0;
  while (taken.has(first)) first++;
  return first;
}

/** One connection with at most one call in flight. */
class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #onOutcome: ((outcome: Outcome) => void) | null = null;

  constructor(url: string, apiToken: string) {
    const { hostname, port } = new URL(url);
    this.#head = `GET /api/user HTTP/1.1\r\nHost: rig\r\nAuthorization: Token ${apiToken}\r\nContent-Length: `;
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true }).setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#read(text));
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#settle('wrong'));
  }

  get isOpen(): boolean {
    return this.#socket.writable;
  }

  call(id: string, onOutcome: (outcome: Outcome) => void): void {
    this.#onOutcome = onOutcome;
    const body = `{"user_group_id":"${id}","name":"Rig"}`;
    this.#socket.write(`${this.#head}${body.length}\r\n\r\n${body}`);
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]);
    if (headEnd < 0 || this.#received.length < headEnd + 4 + length) return;
    const response = this.#received;
    this.#received = '';
    this.#settle(outcomeOf(response));
  }

  #settle(outcome: Outcome): void {
    const onOutcome = this.#onOutcome;
    this.#onOutcome = null;
    onOutcome?.(outcome);
  }
}

function outcomeOf(response: string): Outcome {
  if (response.startsWith('HTTP/1.1 200 ')) return 'served';
  return response.startsWith('HTTP/1.1 503 ') && /\r\nretry-after: [1-9]\d*\r\n/i.test(response)
    ? 'refused'
    : 'wrong';
}

if (!isMainThread) parentPort?.postMessage(await new Callers(workerData as CallLoad).run());
