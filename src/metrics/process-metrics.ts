// Metrics of the build, the process, and the event loops and heaps of its serving threads.

import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export interface Build {
  version: string;
  database: string;
}

/** Metrics that walk all connections in each scrape, and are left out. */
const EXPENSIVE = /^nodejs_active_/;
const THREAD_METRIC = /^nodejs_(eventloop|heap|external_memory|gc)_/;
const EVENT_LOOP_TIME = 'nodejs_eventloop_time_seconds_total';

export function addProcessMetrics(registry: Registry, { version, database }: Build): void {
  new Gauge({
    name: 'user_group_service_build_info',
    help: 'The version of the service and the kind of its database.',
    labelNames: ['version', 'database'],
    registers: [registry],
  }).set({ version, database }, 1);
  addDefaults(registry, {}, (name) => !EXPENSIVE.test(name) && !THREAD_METRIC.test(name));
}

/** `thread` is the value of a label; null in a process with one serving thread. */
export function addThreadMetrics(registry: Registry, thread: number | null): void {
  const labels: Record<string, string> = thread === null ? {} : { thread: String(thread) };
  addDefaults(registry, labels, (name) => THREAD_METRIC.test(name));
  new Counter({
    name: EVENT_LOOP_TIME,
    help: 'Time that the event loop was active or idle.',
    labelNames: ['nodejs_eventloop_state', ...Object.keys(labels)],
    registers: [registry],
    collect() {
      const { active, idle } = performance.eventLoopUtilization();
      this.reset();
      this.inc({ ...labels, nodejs_eventloop_state: 'active' }, active / 1_000);
      this.inc({ ...labels, nodejs_eventloop_state: 'idle' }, idle / 1_000);
    },
  });
}

function addDefaults(
  registry: Registry,
  labels: Record<string, string>,
  isWanted: (name: string) => boolean,
): void {
  const all = new Registry();
  collectDefaultMetrics({ register: all, labels });
  for (const { name } of all.getMetricsAsArray()) {
    if (isWanted(name)) registry.registerMetric(all.getSingleMetric(name)!);
  }
}
