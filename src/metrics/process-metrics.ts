// The build, the process and its event loop.

import { performance } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';

export interface Build {
  version: string;
  database: string;
}

/** They walk all connections, in each scrape. */
const EXPENSIVE = /^nodejs_active_/;

export function addProcessMetrics(registry: Registry, { version, database }: Build): void {
  new Gauge({
    name: 'user_group_service_build_info',
    help: 'The version of the service and the kind of its database.',
    labelNames: ['version', 'database'],
    registers: [registry],
  }).set({ version, database }, 1);
  collectDefaultMetrics({ register: registry });
  for (const { name } of registry.getMetricsAsArray()) {
    if (EXPENSIVE.test(name)) registry.removeSingleMetric(name);
  }
  new Counter({
    name: 'nodejs_eventloop_time_seconds_total',
    help: 'Time that the event loop was active or idle.',
    labelNames: ['nodejs_eventloop_state'],
    registers: [registry],
    collect() {
      const { active, idle } = performance.eventLoopUtilization();
      this.reset();
      this.inc({ nodejs_eventloop_state: 'active' }, active / 1_000);
      this.inc({ nodejs_eventloop_state: 'idle' }, idle / 1_000);
    },
  });
}
