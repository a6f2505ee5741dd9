// Observes the event loop of a service's main thread: its longest iteration as the service measures it, and the
// latency of `/healthz`.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { DatabaseKind, TestDatabase } from '../../test/support/database.ts';
import { send } from '../../test/support/http.ts';
import { eventually, Folder, type Service, serve } from '../../test/support/process.ts';
import { threadStarvedMs } from '../../test/support/starvation.ts';
import { QUIET } from './program.ts';
import { DatabaseTokenIssuer, type TokenIssuer } from './token-issuer.ts';

/** More than 100 health checks per second would count as those of another tenant, and change what is measured. */
const PROBE_EVERY_MS = 10;

/** Settings with which no thread serves but the monitored one. */
export const ONE_THREAD = { UGS_THREADS: '1' };

export interface Monitored {
  service: Service;
  loop: EventLoop;
  /** API token with the permission `admin`. */
  token: string;
  issuer: TokenIssuer;
  database: TestDatabase;
}

/** Serves a new database with a process whose event loop is monitored, and runs the work meanwhile. */
export async function whileMonitored<Result>(
  kind: DatabaseKind,
  work: (monitored: Monitored) => Promise<Result>,
  settings: Record<string, string> = {},
): Promise<Result> {
  using folder = new Folder();
  await using database = await kind.create();
  const file = folder.join('longest-iteration');
  await using service = await serve(folder, {
    env: { ...database.env, ...QUIET, ...settings, ...monitored(file) },
  });
  await using issuer = await DatabaseTokenIssuer.open(database);
  const { token } = await issuer.create('default', 'Customer', 'admin');
  const loop = new EventLoop(service, file);
  return await work({ service, loop, token, issuer, database });
}

/** Returns settings that monitor the event loop of a service and write its longest iterations to the file. */
function monitored(file: string): Record<string, string> {
  const monitor = pathToFileURL(`${import.meta.dirname}/event-loop-monitor.ts`);
  // Set here, because the monitor is loaded before the program enables the cache.
  const cache = { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') };
  return { ...cache, NODE_OPTIONS: `--import=${monitor.href}`, RIG_EVENT_LOOP_FILE: file };
}

interface LongestIteration {
  longestMs: number;
  longestCpuMs: number;
}

/** How long the event loop was blocked. */
export interface TurnFigures {
  longestTurnMs: number;
  /** CPU time that the thread used: on a busy machine, iterations take longer. */
  longestTurnCpuMs: number;
}

interface HealthFigures {
  slowestHealthMs: number;
  /** The same without the time in which service or rig waited for a processor, as they do on a busy machine. */
  slowestServedHealthMs: number;
}

export interface LoopFigures extends TurnFigures, HealthFigures {}

class EventLoop {
  readonly #service: Service;
  readonly #file: string;

  constructor(service: Service, file: string) {
    this.#service = service;
    this.#file = file;
  }

  /** Returns the result of the work, and figures of the event loop meanwhile. */
  async during<Result>(work: () => Promise<Result>): Promise<[Result, LoopFigures]> {
    const [[result, health], turns] = await this.turnsDuring(() => this.#healthDuring(work()));
    return [result, { ...turns, ...health }];
  }

  /** Does the same without calling `/healthz`. */
  async turnsDuring<Result>(work: () => Promise<Result>): Promise<[Result, TurnFigures]> {
    await this.#longestIteration();
    const result = await work();
    const { longestMs, longestCpuMs } = await this.#longestIteration();
    const figures = { longestTurnMs: Math.round(longestMs), longestTurnCpuMs: Math.round(longestCpuMs) };
    return [result, figures];
  }

  /** Returns the longest iteration since the last call. */
  async #longestIteration(): Promise<LongestIteration> {
    rmSync(this.#file, { force: true });
    this.#service.signal('SIGUSR2');
    await eventually('the longest iteration of the event loop', () => existsSync(this.#file));
    return JSON.parse(readFileSync(this.#file, 'utf8'));
  }

  /** Returns the highest latencies of `/healthz` while the work is running. */
  async #healthDuring<Result>(work: Promise<Result>): Promise<[Result, HealthFigures]> {
    const ids = [this.#service.id, process.pid];
    let isDone = false;
    let [slowestMs, slowestServedMs] = [0, 0];
    const probe = async (): Promise<void> => {
      while (!isDone) {
        const before = ids.map(threadStarvedMs);
        const sentAt = performance.now();
        await send(this.#service.url, { path: '/healthz' });
        const tookMs = performance.now() - sentAt;
        // They may have waited at the same time.
        const starvedMs = Math.max(...ids.map((id, index) => threadStarvedMs(id) - before[index]!));
        slowestMs = Math.max(slowestMs, tookMs);
        slowestServedMs = Math.max(slowestServedMs, tookMs - starvedMs);
        await sleep(PROBE_EVERY_MS);
      }
    };
    const probing = probe();
    try {
      const result = await work;
      const health = {
        slowestHealthMs: Math.round(slowestMs),
        slowestServedHealthMs: Math.round(slowestServedMs),
      };
      return [result, health];
    } finally {
      isDone = true;
      await probing;
    }
  }
}
