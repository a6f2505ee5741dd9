// Callers in a thread of their own, so that nothing else that the rig does delays them. In an open loop a call is
// sent when it is due, whatever has become of those before it, and its time counts from then.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface CallLoad {
  url: string;
  apiToken: string;
  /** What the ids of the groups that it creates begin with. */
  prefix: string;
  seconds: number;
  /** Until queues are as long as they will be: what ends by then is no part of the figures. */
  warmUpSeconds: number;
  /** Calls that become due each second, or callers of whom each sends a call when it has the answer to its last one. */
  offer: { perSecond: number } | { callers: number };
}

export interface CallFigures {
  /** Calls that were sent. */
  calls: number;
  served: Answers;
  /** 503 with Retry-After. */
  refused: Answers;
  /** Any other answer, or none. */
  wrong: number;
  /** Those, and all that were refused, also at the beginning. */
  notServed: number;
  /** When the first second began in which all that became due was served. */
  allServedAfterSeconds: number;
}

interface Answers {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/** Fewer than the service takes connections. */
const MAX_CALLERS = 8_000;
const TICK_MS = 2;
/** How long an answer is waited for after the last call. */
const PATIENCE_MS = 20_000;

/** Runs the load in a thread. */
export async function call(load: CallLoad): Promise<CallFigures> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load });
  const [figures] = await once(worker, 'message');
  await worker.terminate();
  return figures;
}

/** Runs a small load in a process, whose times are those of the service: what makes the large one has a queue of its own. */
export async function probe(load: CallLoad): Promise<CallFigures> {
  const prober = fork(new URL('./overload-probe.ts', import.meta.url));
  // Not on the command line, which is there for all to see.
  prober.send(load);
  const [figures] = await once(prober, 'message');
  return figures as CallFigures;
}

type Outcome = 'served' | 'refused' | 'wrong';

export class Callers {
  readonly #load: CallLoad;
  readonly #free: Caller[] = [];
  /** When those became due that wait for a free caller. */
  readonly #late: number[] = [];
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
    for (const end = this.#elapsedMs + PATIENCE_MS; this.#outcomes.length < this.#sent; ) {
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
    if (caller === null) this.#late.push(dueMs);
    else this.#call(caller, dueMs);
  }

  /** The service ends connections on which nothing has been asked for a minute. */
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
    caller.call(id, (outcome) => this.#take(caller, outcome, dueMs));
  }

  #take(caller: Caller, outcome: Outcome, dueMs: number): void {
    this.#outcomes.push({ outcome, dueMs, tookMs: this.#elapsedMs - dueMs });
    if (caller.isOpen) this.#free.push(caller);
    else this.#callers--;
    const late = this.#late.shift();
    if (late !== undefined) this.#start(late);
    if ('callers' in this.#load.offer && this.#elapsedMs < this.#load.seconds * 1_000)
      this.#send(this.#elapsedMs);
  }

  #figures(): CallFigures {
    const unanswered = this.#sent - this.#outcomes.length;
    const notServed = this.#outcomes.filter(({ outcome }) => outcome !== 'served');
    return {
      calls: this.#sent,
      served: this.#answers('served'),
      refused: this.#answers('refused'),
      wrong: unanswered + notServed.filter(({ outcome }) => outcome === 'wrong').length,
      notServed: unanswered + notServed.length,
      allServedAfterSeconds: firstWithout(notServed.map(({ dueMs }) => Math.floor(dueMs / 1_000))),
    };
  }

  #answers(wanted: Outcome): Answers {
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

/** The least whole number, from 0, that is none of them. */
function firstWithout(numbers: readonly number[]): number {
  const taken = new Set(numbers);
  let first = 0;
  while (taken.has(first)) first++;
  return first;
}

/** One connection, and at most one call under way on it. */
class Caller {
  readonly #socket: Socket;
  readonly #head: string;
  #received = '';
  #take: ((outcome: Outcome) => void) | null = null;

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

  call(id: string, take: (outcome: Outcome) => void): void {
    this.#take = take;
    const body = `{"user_group_id":"${id}","name":"Rig"}`;
    this.#socket.write(`${this.#head}${body.length}\r\n\r\n${body}`);
  }

  #read(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#received)?.[1]);
    if (headEnd < 0 || this.#received.length < headEnd + 4 + length) return;
    const answer = this.#received;
    this.#received = '';
    this.#settle(outcomeOf(answer));
  }

  #settle(outcome: Outcome): void {
    const take = this.#take;
    this.#take = null;
    take?.(outcome);
  }
}

function outcomeOf(answer: string): Outcome {
  if (answer.startsWith('HTTP/1.1 200 ')) return 'served';
  return answer.startsWith('HTTP/1.1 503 ') && /\r\nretry-after: [1-9]\d*\r\n/i.test(answer)
    ? 'refused'
    : 'wrong';
}

if (!isMainThread) parentPort?.postMessage(await new Callers(workerData as CallLoad).run());
