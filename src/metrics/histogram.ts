// Histogram for hot paths. Each combination of labels is looked up once and kept as a series; an observation
// then takes some nanoseconds. The histogram of prom-client builds a key from the labels for each
// observation, which takes a microsecond, 4 per cent of a request.

import type { Metric, Registry } from 'prom-client';

interface HistogramOptions {
  name: string;
  help: string;
  /** Upper bounds in ascending order. */
  buckets: readonly number[];
}

export class Histogram<Label extends string> {
  readonly name: string;
  readonly #options: HistogramOptions;
  readonly #series: { labels: Record<Label, string>; series: Series }[] = [];

  constructor(registry: Registry, options: HistogramOptions) {
    this.name = options.name;
    this.#options = options;
    // The registry uses only `name` and `get` of a metric.
    registry.registerMetric(this as unknown as Metric);
  }

  /** Adds a series. Call it once for each combination of labels. */
  series(labels: Record<Label, string>): Series {
    const series = new Series(this.#options.buckets);
    this.#series.push({ labels, series });
    return series;
  }

  get(): object {
    const { name, help } = this.#options;
    const values = this.#series.flatMap(({ labels, series }) => [
      ...series.cumulative().map(([le, value]) => ({
        metricName: `${name}_bucket`,
        labels: { ...labels, le },
        value,
      })),
      { metricName: `${name}_sum`, labels, value: series.sum },
      { metricName: `${name}_count`, labels, value: series.count },
    ]);
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }
}

export class Series {
  readonly #bounds: readonly number[];
  /** Observations per bucket; the last bucket is unbounded. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++;
    this.#counts[bucket]!++;
    this.#sum += value;
  }

  /** Returns the number of observations up to each bound. */
  cumulative(): [bound: number | '+Inf', count: number][] {
    let total = 0;
    return [...this.#counts].map((count, bucket) => {
      total += count;
      return [this.#bounds[bucket] ?? '+Inf', total];
    });
  }
}
