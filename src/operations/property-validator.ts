// Checks properties against their schema in a thread, each within a deadline.

import { Worker } from 'node:worker_threads';
import type { FieldError } from '../problem.ts';
import { Problem } from '../problem.ts';
import type { ValidatorReply, ValidatorRequest } from './property-validator-thread.ts';

const COMPILE_MS = 1_000;
const CHECK_MS = 250;
const MAX_QUEUED = 1_000;
const MAX_HEAP_MB = 128;

/** The schema cannot be compiled, or takes too long. */
export class PropertySchemaInvalid extends Error {
  override readonly name = 'PropertySchemaInvalid';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

interface Job {
  request: ValidatorRequest;
  timeoutMs: number;
  resolve: (faults: FieldError[]) => void;
  reject: (error: Error) => void;
}

export class PropertyValidator {
  readonly #queue: Job[] = [];
  #worker: Worker | null = null;
  #isReady = false;
  #running: { job: Job; timer: NodeJS.Timeout | null } | null = null;

  /** Throws `PropertySchemaInvalid`. */
  async compile(schema: string): Promise<void> {
    await this.#run({ schema, properties: null }, COMPILE_MS);
  }

  /** What the properties violate. Throws `PropertySchemaInvalid` if the schema takes too long for them. */
  check(schema: string, properties: string): Promise<FieldError[]> {
    return this.#run({ schema, properties }, CHECK_MS);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #run(request: ValidatorRequest, timeoutMs: number): Promise<FieldError[]> {
    if (this.#queue.length >= MAX_QUEUED)
      throw new Problem('overloaded', 'Too many properties are waiting to be checked. Retry later.', {
        retryAfterSeconds: 1,
      });
    return new Promise((resolve, reject) => {
      this.#queue.push({ request, timeoutMs, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== null) return;
    const job = this.#queue.shift();
    if (job === undefined) return;
    this.#worker ??= this.#start();
    this.#running = { job, timer: null };
    this.#worker.ref();
    if (this.#isReady) this.#send(job);
  }

  /** The time of a check does not include that of starting the thread. */
  #send({ request, timeoutMs }: Job): void {
    this.#running!.timer = setTimeout(() => this.#end('takes too long to check'), timeoutMs);
    this.#worker!.postMessage(request);
  }

  #start(): Worker {
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const url = new URL(`./property-validator-thread${extension}`, import.meta.url);
    const worker = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    worker.on('message', (reply: ValidatorReply | 'ready') => {
      if (reply !== 'ready') return this.#settle(reply);
      this.#isReady = true;
      if (this.#running !== null) this.#send(this.#running.job);
    });
    worker.on('error', () => this.#end('cannot be checked'));
    return worker;
  }

  #settle(reply: ValidatorReply): void {
    const running = this.#running;
    if (running === null) return;
    if (running.timer !== null) clearTimeout(running.timer);
    this.#running = null;
    this.#worker?.unref();
    if ('faults' in reply) running.job.resolve(reply.faults);
    else running.job.reject(new PropertySchemaInvalid(reply.pointer, reply.invalid));
    this.#next();
  }

  /** Ends the thread with what it is doing; the next check starts another. */
  #end(message: string): void {
    const worker = this.#worker;
    this.#worker = null;
    this.#isReady = false;
    worker?.removeAllListeners();
    worker?.on('error', () => {});
    void worker?.terminate();
    this.#settle({ pointer: '', invalid: message });
  }
}
