import { Gauge, type Registry } from 'prom-client';

interface ReadGauge {
  name: string;
  help: string;
  read(): number | Promise<number>;
}

/** Adds a gauge without labels, whose value is read when metrics are collected. */
export function addGauge(registry: Registry, { name, help, read }: ReadGauge): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      this.set(await read());
    },
  });
}
