// Warns about events stored without their larger values: one line per environment and interval, with the
// number of events.

import type { Logger } from 'pino';
import { type Tenant, tenantName, tenantOf } from './domain/tenant.ts';

const INTERVAL_MS = 60_000;
/** Maximum environments logged in an interval; the metric counts the others too. */
const MAX_TENANTS = 100;

export class ReducedEventLog {
  readonly #log: Logger;
  /** Environments logged in this interval, with the number of events since their last line. */
  readonly #unlogged = new Map<string, Tenant & { events: number }>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(tenant: Tenant): void {
    const name = tenantName(tenant);
    const counted = this.#unlogged.get(name);
    if (counted !== undefined) counted.events++;
    else if (this.#unlogged.size < MAX_TENANTS) {
      this.#unlogged.set(name, { ...tenantOf(tenant), events: 0 });
      this.#warn({ ...tenantOf(tenant), events: 1 });
    }
    this.#timer ??= setTimeout(() => this.#startInterval(), INTERVAL_MS).unref();
  }

  #startInterval(): void {
    this.#timer = null;
    const counted = [...this.#unlogged.values()];
    this.#unlogged.clear();
    for (const each of counted) if (each.events > 0) this.#warn(each);
  }

  #warn(fields: Tenant & { events: number }): void {
    this.#log.warn(
      fields,
      'events: the quota of this environment is used up (UGS_EVENT_MEBIBYTES_PER_DAY), so events omit larger values',
    );
  }
}
