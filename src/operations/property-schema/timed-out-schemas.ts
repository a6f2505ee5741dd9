// Records an event when checks with a property schema have timed out repeatedly, once per version of the
// schema.

import { operator } from '../../domain/api-token.ts';
import { SINGLETON_ID } from '../../domain/document.ts';
import type { EventTarget } from '../../domain/event/event.ts';
import type { PropertySchema } from '../../domain/property-schema/property-schema.ts';
import { type Tenant, tenantOf } from '../../domain/tenant.ts';
import { type EventContext, newEvent } from '../event/event.ts';
import { findNewestEvent } from '../event/newest.ts';

const TYPE = 'property_schema.timed_out';
const target = { type: 'property_schema', id: SINGLETON_ID } as const satisfies EventTarget;

export class TimedOutSchemas {
  readonly #context: EventContext;
  readonly #onError: (error: unknown) => void;
  readonly #reported = new WeakSet<PropertySchema>();
  #recording: Promise<void> = Promise.resolve();

  constructor(context: Omit<EventContext, 'origin'>, onError: (error: unknown) => void) {
    this.#context = { ...context, origin: { via: 'service', requestId: null } };
    this.#onError = onError;
  }

  /** Records the event off the path of the response. After a failure, the next timeout is reported again. */
  report(tenant: Tenant, schema: PropertySchema): void {
    if (this.#reported.has(schema)) return;
    this.#reported.add(schema);
    this.#recording = this.#recording
      .then(() => this.#record(tenantOf(tenant)))
      .catch((error: unknown) => {
        this.#reported.delete(schema);
        this.#onError(error);
      });
  }

  /** Resolves when all reported schemas are recorded. */
  get recorded(): Promise<void> {
    return this.#recording;
  }

  async #record(tenant: Tenant): Promise<void> {
    const { store, eventRetentionDays } = this.#context;
    if (eventRetentionDays === 0 || (await this.#isRecorded(tenant))) return;
    const event = await newEvent(this.#context, operator(tenant), TYPE, SINGLETON_ID);
    if (event !== undefined) await store.write({ kind: 'recordEvent', event });
  }

  /**
   * Whether the newest event about the schema is such a report, by another process or by this one before a
   * restart: any change of the schema would be newer.
   */
  async #isRecorded(tenant: Tenant): Promise<boolean> {
    const newest = await findNewestEvent(this.#context.store, tenant, target);
    return newest?.type === TYPE;
  }
}
