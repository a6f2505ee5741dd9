import type { EventTarget, StoredEvent } from '../../domain/event/event.ts';
import { limits } from '../../domain/field.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { BatchingStore } from '../../store/batching-store.ts';

/** Returns the newest event with exactly this target, or null. */
export async function findNewestEvent(
  store: BatchingStore,
  tenant: Tenant,
  target: EventTarget,
): Promise<StoredEvent | null> {
  const { events } = await store.read({
    kind: 'listEvents',
    tenant,
    target,
    type: null,
    order: 'newest',
    after: null,
    limit: 1,
    scanLimit: 1,
    maxBytes: limits.pageBytes,
  });
  return events[0] ?? null;
}
