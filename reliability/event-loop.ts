// The event loop of a service: its longest iteration as measured by the service, and the latency of `/healthz`.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { send } from '../test/support/http.ts';
import { eventually } from '../test/support/process.ts';

const PROBE_EVERY_MS = 5;

/** The settings of a service whose event loop is monitored; it writes its longest iterations to the file. */
export function monitored(file: string): Record<string, string> {
  const monitor = pathToFileURL(`${import.meta.dirname}/event-loop-monitor.ts`);
  return { NODE_OPTIONS: `--import=${monitor.href}`, RIG_EVENT_LOOP_FILE: file };
}

export interface LongestIteration {
  longestMs: number;
  /** CPU time used by the thread: on a busy machine, iterations take longer. */
  longestCpuMs: number;
}

export class EventLoop {
  readonly #service: { url: string; signal: (name: NodeJS.Signals) => void };
  readonly #file: string;

  constructor(service: { url: string; signal: (name: NodeJS.Signals) => void }, file: string) {
    this.#service = service;
    this.#file = file;
  }

  /** The longest iteration since the last call. */
  async longestIteration(): Promise<LongestIteration> {
    rmSync(this.#file, { force: true });
    this.#service.signal('SIGUSR2');
    await eventually('the longest iteration of the event loop', () => existsSync(this.#file));
    return JSON.parse(readFileSync(this.#file, 'utf8'));
  }

  /** The highest latency of `/healthz` while the work is running. */
  async slowestHealthMs<Result>(work: Promise<Result>): Promise<[Result, number]> {
    let isDone = false;
    let slowestMs = 0;
    const probe = async (): Promise<void> => {
      while (!isDone) {
        const sentAt = performance.now();
        await send(this.#service.url, { path: '/healthz' });
        slowestMs = Math.max(slowestMs, performance.now() - sentAt);
        await sleep(PROBE_EVERY_MS);
      }
    };
    const probing = probe();
    try {
      return [await work, slowestMs];
    } finally {
      isDone = true;
      await probing;
    }
  }
}
