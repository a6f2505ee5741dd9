import { Counter, type Registry } from 'prom-client';

/** `dropped` returns the number of dropped uses since the start. */
export function addDroppedUsage(registry: Registry, dropped: () => number): void {
  new Counter({
    name: 'user_group_service_usage_dropped_total',
    help: 'Uses of tokens that were not counted, because too many user groups were used while the database failed.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}
