// Metrics of one service: a registry, and an observer for each part of the service, which knows only the
// interface of its observer. A new part adds a file here and a member in one of these classes.

import { AggregatorRegistry, Counter, type MetricObject, Registry } from 'prom-client';
import type { ConnectionCounts } from '../database.ts';
import type { BatchObservers } from '../store/batching-store.ts';
import type { FileStorage } from '../store/port.ts';
import { EventMetrics } from './event-metrics.ts';
import { addGauge, addLabelledGauge, orNaN } from './gauge.ts';
import { HttpMetrics } from './http-metrics.ts';
import { addProcessMetrics, addThreadMetrics, type Build } from './process-metrics.ts';
import { Readiness } from './readiness.ts';
import { addConnections, addStorage, batchMetrics } from './store-metrics.ts';
import { WebhookMetrics } from './webhook-metrics.ts';

/** Metrics of a thread, in the form in which they are sent to another thread. */
export type ThreadMetricsMessage = MetricObject[];

/** Metrics of one serving thread. */
export class ThreadMetrics {
  protected readonly registry = new Registry();
  readonly http = new HttpMetrics(this.registry);
  readonly batches: BatchObservers = batchMetrics(this.registry);

  /** `thread` is the value of a label; null in a process with one serving thread. */
  constructor(thread: number | null) {
    addThreadMetrics(this.registry, thread);
  }

  watchQueues(lengths: () => Record<string, number>): void {
    addLabelledGauge(this.registry, {
      name: 'user_group_service_queue_length',
      help: 'Work that waits for the database (read, list, write) or for the processor (cpu).',
      label: 'queue',
      read: lengths,
    });
  }

  /** `dropped` returns how many uses of tokens were not counted. */
  watchUsage(dropped: () => number): void {
    new Counter({
      name: 'user_group_service_usage_dropped_total',
      help: 'Uses of tokens that were not counted, because too many integrations of an environment were used on a day, or too many user groups while the database failed.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(dropped());
      },
    });
  }

  watchConnections(counts: () => ConnectionCounts): void {
    addConnections(this.registry, counts);
  }

  collect(): Promise<ThreadMetricsMessage> {
    return this.registry.getMetricsAsJSON();
  }
}

/** Metrics of the process, including those of its main thread. */
export class Metrics extends ThreadMetrics {
  readonly events = new EventMetrics(this.registry);
  readonly webhooks = new WebhookMetrics(this.registry);
  readonly readiness = new Readiness(this.registry);
  #collectOthers: () => Promise<ThreadMetricsMessage[]> = async () => [];

  constructor(build: Build, thread: number | null) {
    super(thread);
    addProcessMetrics(this.registry, build);
  }

  /** `collect` returns the metrics of the other serving threads. */
  watchThreads(collect: () => Promise<ThreadMetricsMessage[]>): void {
    this.#collectOthers = collect;
  }

  /** `count` returns the pending deliveries of all processes. */
  watchDeliveries(count: () => Promise<number>): void {
    addGauge(this.registry, {
      name: 'webhook_deliveries_pending',
      help: 'Deliveries to webhook endpoints that are pending, of all processes, counted up to 10,000.',
      read: orNaN(count),
    });
  }

  /** `measure` returns the sizes of the database file and its disk. */
  watchStorage(measure: () => Promise<FileStorage>): void {
    addStorage(this.registry, measure);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** Returns all metrics, summed over the threads, in the text format of Prometheus. */
  async render(): Promise<string> {
    const others = await this.#collectOthers();
    if (others.length === 0) return this.registry.metrics();
    const own = await this.collect();
    return AggregatorRegistry.aggregate([own.map(keep), ...others]).metrics();
  }
}

/** Keeps the start time of the process, which aggregation would omit. */
function keep(metric: MetricObject): MetricObject {
  return metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric;
}
