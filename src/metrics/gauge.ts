// Gauges whose values are read when metrics are collected.

import { Gauge, type Registry } from 'prom-client';

interface ReadGauge<Value> {
  name: string;
  help: string;
  read(): Value | Promise<Value>;
}

export function addGauge(registry: Registry, { name, help, read }: ReadGauge<number>): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}

/** Returns a `read` whose value is NaN if it rejects, for example because the database is unreachable. */
export function orNaN(read: () => Promise<number>): () => Promise<number> {
  return () => read().catch(() => Number.NaN);
}

/** Adds a gauge with one label; `read` returns the numbers by the values of the label. */
export function addLabelledGauge(
  registry: Registry,
  { name, help, label, read }: ReadGauge<Readonly<Record<string, number>>> & { label: string },
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    async collect() {
      for (const [value, number] of Object.entries(await read())) this.set({ [label]: value }, number);
    },
  });
}
