// Runs checks in a thread, one at a time, for its lane.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import type { JsonText } from '../../../domain/json/strict-json.ts';
import { startThread } from '../../../system/start-thread.ts';
import { SchemaIds } from './schema-ids.ts';
import type { ThreadLimits, ValidatorReply, Verdict } from './thread.ts';

/**
 * Heap limit, beyond which the thread ends. The most expensive schemas within the limits of size and depth
 * need less.
 */
const HEAP_MB = 64;
/** Size of the young generation; a larger one takes more memory and saves no time. */
const YOUNG_GENERATION_MB = 8;
/** Additional time for a check that the thread cannot stop. */
const GRACE_MS = 10;
/**
 * Maximum elapsed time: a check that has not used its processor time by then did not get a processor, because
 * the machine is too busy.
 */
const MAX_MS = 2_500;
/** Time within which a thread that gets a processor reports its processor time. */
const CPU_USAGE_MS = 250;

/** Properties to check, and their schema; without properties, the schema is tried with examples. */
export interface Check {
  tenant: number;
  schema: JsonText;
  properties: readonly JsonText[] | null;
}

/**
 * Outcome of a check. One without a verdict on the schema had no turn in time (`overloaded`), no thread or
 * processor time (`stalled`), or a thread that failed.
 */
export type CheckOutcome = { spentMs: number } & (
  | Verdict
  | { result: 'exceeded'; limit: 'memory' }
  | { result: 'overloaded' | 'stalled' }
  | { result: 'failed'; error: Error }
);

interface Running {
  startedAt: number;
  /** Limit of the processor time, with compiling the schema until that is done. */
  limitMs: number;
  checkMs: number;
  timer: NodeJS.Timeout;
  settle: (outcome: CheckOutcome) => void;
}

export class ValidatorThread {
  readonly #limits: ThreadLimits;
  /** null if the system cannot create another thread. */
  readonly #worker: Worker | null;
  #schemas = new SchemaIds();
  readonly #ready = Promise.withResolvers<void>();
  /** Processor time of the thread when it became idle. */
  #idleCpuMs = 0;
  #running: Running | null = null;
  #hasEnded = false;
  #failure: Error | null = null;

  /**
   * Starts the thread. The process stays alive until the thread has started, and afterwards only while a
   * check runs.
   */
  constructor(limits: ThreadLimits) {
    this.#limits = limits;
    this.#worker = newWorker(limits);
    if (this.#worker === null) void this.end();
    this.#worker?.on('message', (reply: ValidatorReply) => this.#receive(reply));
    this.#worker?.on('error', (error: NodeJS.ErrnoException) => this.#fail(error));
  }

  /** Resolves when the thread can run checks, or has ended. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Runs a check. Its time excludes the start of the thread. */
  async run({ tenant, schema, properties }: Check): Promise<CheckOutcome> {
    await this.ready;
    if (this.#failure !== null) return { result: 'failed', error: this.#failure, spentMs: 0 };
    if (this.#worker === null || this.#hasEnded) return { result: 'stalled', spentMs: 0 };
    this.#worker.ref();
    const named = this.#schemas.use(tenant, schema);
    const { promise, resolve: settle } = Promise.withResolvers<CheckOutcome>();
    const { compileMs } = this.#limits;
    // Trying examples may take twice as long as a check.
    const checkMs = this.#limits.checkMs * (properties === null ? 2 : 1);
    const isCompiled = named.schema === null && properties !== null;
    const limitMs = isCompiled ? checkMs : compileMs + checkMs;
    const running = { startedAt: performance.now(), limitMs, checkMs, settle };
    this.#running = { ...running, timer: this.#look(running.limitMs) };
    this.#worker.postMessage({ ...named, properties });
    return promise;
  }

  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#ready.resolve();
    this.#worker?.removeAllListeners();
    this.#worker?.on('error', () => {});
    await this.#worker?.terminate();
  }

  #receive(reply: ValidatorReply): void {
    if ('hasCompiled' in reply) {
      this.#limitCheck(reply.cpuMs - this.#idleCpuMs);
      return;
    }
    if ('verdict' in reply && reply.hasForgotten) this.#schemas = new SchemaIds();
    if ('verdict' in reply) this.#settle({ ...reply.verdict, spentMs: reply.cpuMs - this.#idleCpuMs });
    else {
      this.#worker?.unref();
      this.#ready.resolve();
    }
    this.#idleCpuMs = reply.cpuMs;
  }

  /** Limits the check by itself: a step that the thread cannot stop does not get the time left from compiling. */
  #limitCheck(spentMs: number): void {
    const running = this.#running;
    if (running === null) return;
    clearTimeout(running.timer);
    running.limitMs = spentMs + running.checkMs;
    running.timer = this.#look(running.checkMs);
  }

  #settle(outcome: CheckOutcome): void {
    const running = this.#running;
    if (running === null) return;
    clearTimeout(running.timer);
    this.#running = null;
    this.#worker?.unref();
    running.settle(outcome);
  }

  #fail(cause: NodeJS.ErrnoException): void {
    this.#failure = new Error('the thread that checks properties failed', { cause });
    if (cause.code === 'ERR_WORKER_OUT_OF_MEMORY')
      this.#end({ result: 'exceeded', limit: 'memory', spentMs: MAX_MS });
    else this.#end({ result: 'failed', error: this.#failure, spentMs: 0 });
  }

  #end(outcome: CheckOutcome): void {
    void this.end();
    this.#settle(outcome);
  }

  #look(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => void this.#endIfOverdue(), afterMs + GRACE_MS);
  }

  /**
   * Ends the thread if the check is overdue. A late timer with the reply waiting behind it, or a thread that
   * waits for a processor, does not make it overdue.
   */
  async #endIfOverdue(): Promise<void> {
    const running = this.#running;
    await nextTurn();
    const spentMs = running === this.#running ? await this.#spentMs() : null;
    if (running === null || running !== this.#running) return;
    if (spentMs !== null && spentMs >= running.limitMs)
      return this.#end({ result: 'exceeded', limit: 'check', spentMs });
    if (performance.now() - running.startedAt > MAX_MS)
      return this.#end({ result: 'stalled', spentMs: spentMs ?? 0 });
    clearTimeout(running.timer);
    running.timer = this.#look(running.limitMs - (spentMs ?? 0));
  }

  /** Returns the processor time of the running check; null if the thread does not report it. */
  async #spentMs(): Promise<number | null> {
    const usage = this.#worker?.cpuUsage().catch(() => null);
    const answer = await Promise.race([usage, sleep(CPU_USAGE_MS, null)]);
    return answer == null ? null : (answer.user + answer.system) / 1_000 - this.#idleCpuMs;
  }
}

function newWorker(limits: ThreadLimits): Worker | null {
  const resourceLimits = {
    maxOldGenerationSizeMb: HEAP_MB,
    maxYoungGenerationSizeMb: YOUNG_GENERATION_MB,
  };
  try {
    const options = { workerData: limits, resourceLimits };
    return startThread('operations/property-schema/validator/thread', options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_WORKER_INIT_FAILED') throw error;
    return null;
  }
}
