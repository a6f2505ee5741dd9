// The metrics of one service: a registry, and an observer for each part of the service. The parts know only the
// interfaces of their observers. A new part adds a file here, and a member in this class.

import { Registry } from 'prom-client';
import type { ConnectionCounts } from '../database.ts';
import type { BatchObservers } from '../store/batching-store.ts';
import type { FileStorage } from '../store/port.ts';
import { EventMetrics } from './event-metrics.ts';
import { HttpMetrics } from './http-metrics.ts';
import { addProcessMetrics, type Build } from './process-metrics.ts';
import { Readiness } from './readiness.ts';
import { addStorage } from './storage-metrics.ts';
import { addConnections, addQueues, batchMetrics } from './store-metrics.ts';
import { addPendingDeliveries, WebhookMetrics } from './webhook-metrics.ts';

export class Metrics {
  readonly #registry = new Registry();
  readonly http = new HttpMetrics(this.#registry);
  readonly batches: BatchObservers = batchMetrics(this.#registry);
  readonly events = new EventMetrics(this.#registry);
  readonly webhooks = new WebhookMetrics(this.#registry);
  readonly readiness = new Readiness(this.#registry);

  constructor(build: Build) {
    addProcessMetrics(this.#registry, build);
  }

  /** `lengths` returns the length of each queue by its name. */
  watchQueues(lengths: () => Record<string, number>): void {
    addQueues(this.#registry, lengths);
  }

  /** `count` returns the pending deliveries of all processes. */
  watchDeliveries(count: () => Promise<number>): void {
    addPendingDeliveries(this.#registry, count);
  }

  watchConnections(counts: () => ConnectionCounts): void {
    addConnections(this.#registry, counts);
  }

  /** `measure` returns the sizes of the database file and its disk. */
  watchStorage(measure: () => Promise<FileStorage>): void {
    addStorage(this.#registry, measure);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** All metrics in the text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }
}
