// Checks properties against their schema in a thread, each within a deadline.

import { Worker } from 'node:worker_threads';
import type { FieldError } from '../problem.ts';
import { Problem } from '../problem.ts';
import type { ValidatorReply, ValidatorRequest } from './property-validator-thread.ts';

const COMPILE_MS = 1_000;
const CHECK_MS = 250;
const MAX_QUEUED = 1_000;
/** A request that waits longer could not be answered in time. */
const MAX_WAIT_MS = 1_500;
const MAX_HEAP_MB = 128;
/** Larger ones take more memory, and save no time. */
const YOUNG_GENERATION_MB = 8;
/** That the thread keeps compiled. */
const MAX_SCHEMAS = 100;

/** The schema cannot be compiled, or takes too long. */
export class PropertySchemaInvalid extends Error {
  override readonly name = 'PropertySchemaInvalid';
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** Shared: under overload, capturing a stack trace for each request is too expensive. */
const OVERLOADED = new Problem('overloaded', 'Too many properties are waiting to be checked. Retry later.', {
  retryAfterSeconds: 1,
});

interface Job {
  schema: string;
  /** null compiles the schema and tries it. */
  properties: readonly string[] | null;
  queuedAt: number;
  resolve: (faults: FieldError[][]) => void;
  reject: (error: Error) => void;
}

export class PropertyValidator {
  readonly #queue: Job[] = [];
  #worker: Worker | null = null;
  /** The ids of the schemas that the thread has, in the order of their last use. */
  readonly #schemaIds = new Map<string, number>();
  #nextSchemaId = 0;
  #isReady = false;
  #running: { job: Job; timer: NodeJS.Timeout | null } | null = null;

  /** Throws `PropertySchemaInvalid`. */
  async compile(schema: string): Promise<void> {
    await this.#run(schema, null);
  }

  /** What each of the properties violates. Throws `PropertySchemaInvalid` if the schema takes too long for all of them. */
  check(schema: string, properties: readonly string[]): Promise<FieldError[][]> {
    return this.#run(schema, properties);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #run(schema: string, properties: readonly string[] | null): Promise<FieldError[][]> {
    if (this.#queue.length >= MAX_QUEUED) throw OVERLOADED;
    return new Promise((resolve, reject) => {
      this.#queue.push({ schema, properties, queuedAt: performance.now(), resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#running !== null) return;
    const job = this.#dequeue();
    if (job === undefined) return;
    this.#worker ??= this.#start();
    this.#running = { job, timer: null };
    this.#worker.ref();
    if (this.#isReady) this.#send(job);
  }

  #dequeue(): Job | undefined {
    const oldest = performance.now() - MAX_WAIT_MS;
    while (this.#queue.length > 0) {
      const job = this.#queue.shift()!;
      if (job.queuedAt >= oldest) return job;
      job.reject(OVERLOADED);
    }
    return undefined;
  }

  /**
   * The time of a check includes neither that of starting the thread nor that of compiling the schema, which the thread
   * of another process may have done before.
   */
  #send({ schema, properties }: Job): void {
    const identified = this.#identify(schema);
    const checkMs = identified.schema === null ? CHECK_MS : COMPILE_MS + CHECK_MS;
    const timeoutMs = properties === null ? COMPILE_MS : checkMs;
    this.#running!.timer = setTimeout(() => this.#end('takes too long to check'), timeoutMs);
    this.#worker!.postMessage({ ...identified, properties } satisfies ValidatorRequest);
  }

  #identify(schema: string): Omit<ValidatorRequest, 'properties'> {
    const known = this.#schemaIds.get(schema);
    const schemaId = known ?? this.#nextSchemaId++;
    // Moves it to the end.
    this.#schemaIds.delete(schema);
    this.#schemaIds.set(schema, schemaId);
    if (known !== undefined) return { schemaId, schema: null, dropped: null };
    return { schemaId, schema, dropped: this.#dropOldest() };
  }

  #dropOldest(): number | null {
    if (this.#schemaIds.size <= MAX_SCHEMAS) return null;
    const [schema, schemaId] = this.#schemaIds.entries().next().value!;
    this.#schemaIds.delete(schema);
    return schemaId;
  }

  #start(): Worker {
    const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));
    const url = new URL(`./property-validator-thread${extension}`, import.meta.url);
    const worker = new Worker(url, {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    });
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
    this.#schemaIds.clear();
    this.#isReady = false;
    worker?.removeAllListeners();
    worker?.on('error', () => {});
    void worker?.terminate();
    this.#settle({ pointer: '', invalid: message });
  }
}
