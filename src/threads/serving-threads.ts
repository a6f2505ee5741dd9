// The serving threads of a process besides its main thread.

import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { type Config, ConfigInvalid, servingThreads } from '../config.ts';
import type { ThreadMetricsMessage } from '../metrics/metrics.ts';
import { startThread } from '../system/start-thread.ts';
import { callThread, type MainCalls, type ThreadStart } from './calls.ts';

/** The limit of the main thread, whose flag `--max-semi-space-size` is a third of it. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 48 };

type Calls = ReturnType<typeof callThread>;

export class ServingThreads {
  readonly #workers: Worker[] = [];
  readonly #exited: Promise<unknown>[] = [];
  #calls: Calls[] = [];
  readonly #metrics: ThreadMetricsMessage[] = [];
  readonly #failure = Promise.withResolvers<never>();
  #isClosing = false;

  private constructor(count: number) {
    this.#failure.promise.catch(() => {});
    for (let thread = 0; thread < count; thread++) {
      const worker = startThread('threads/serving-thread', { resourceLimits: RESOURCE_LIMITS });
      // Until `open`, a start that fails ends the process without ending its threads first.
      worker.unref();
      worker.on('error', (error) => this.#failure.reject(error));
      worker.on('exit', () => {
        if (!this.#isClosing) this.#failure.reject(new Error('a serving thread has exited'));
      });
      this.#workers.push(worker);
      this.#exited.push(once(worker, 'exit').catch(() => {}));
    }
  }

  /**
   * Starts the threads, which load their modules while the main thread does so and opens the database. Throws
   * `ConfigInvalid` if the system cannot create them.
   */
  static start(config: Config): ServingThreads {
    const { threads } = servingThreads(config);
    try {
      return new ServingThreads(threads - 1);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ERR_WORKER_INIT_FAILED') throw error;
      throw new ConfigInvalid(
        `cannot start ${threads} serving threads: ${message}; lower UGS_THREADS, or raise the limit on processes and ` +
          'threads (ulimit -u, TasksMax, --pids-limit)',
      );
    }
  }

  /** Never resolves; rejects with the error that ended a thread. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  async open(start: Omit<ThreadStart, 'thread'>, functions: MainCalls): Promise<void> {
    for (const worker of this.#workers) worker.ref();
    this.#calls = this.#workers.map((worker) => {
      const calls = callThread(worker, functions);
      // Rejects the calls that it has not answered, and later ones.
      worker.once('exit', () => calls.$close());
      return calls;
    });
    await this.#each((calls, index) => calls.open({ ...start, thread: index + 1 }));
  }

  async listen(host: string, port: number): Promise<void> {
    await this.#each((calls) => calls.listen(host, port));
  }

  /** Collects metrics; uses the last ones of a thread that has exited, because counters must not decrease. */
  collectMetrics(): Promise<ThreadMetricsMessage[]> {
    return Promise.all(this.#calls.map((calls, index) => this.#collect(calls, index)));
  }

  async #collect(calls: Calls, index: number): Promise<ThreadMetricsMessage> {
    try {
      this.#metrics[index] = await calls.collectMetrics();
    } catch (error) {
      if (!calls.$closed) throw error;
    }
    return this.#metrics[index] ?? [];
  }

  /** Resolves when all threads have drained and exited. A thread that has failed does not delay the others. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const calls of this.#calls) void calls.close().catch(() => {});
    await Promise.all(this.#exited);
  }

  /** Ends the threads without draining, after a start that failed. */
  async terminate(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #each<Result>(work: (calls: Calls, index: number) => Promise<Result>): Promise<Result[]> {
    return Promise.race([Promise.all(this.#calls.map(work)), this.failed]);
  }
}
