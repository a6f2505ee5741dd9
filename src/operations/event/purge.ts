// Deletes old events, webhook deliveries and usage, in small batches with pauses. Any number of processes may
// do so at once, because a row is deleted only once.

import { setTimeout as sleep } from 'node:timers/promises';
import { tenantOf } from '../../domain/tenant.ts';
import { type Day, toDay } from '../../domain/usage.ts';
import {
  type EndpointPosition,
  startOfWorkspace,
  type WebhookEndpointKey,
} from '../../domain/webhook-endpoint/delivery.ts';
import { endpointDocumentKey } from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type {
  Continuation,
  DeletedRows,
  DeletionBatch,
  TenantWithEvents,
  TenantWithUsage,
} from '../../store/port.ts';

/** Rows per batch, which SQLite deletes in a few milliseconds. */
const BATCH = 200;
/** Cost of a batch with few rows, relative to a full one. */
const MIN_SHARE = 1 / 10;
/** Maximum number of attempts to empty the log of SQLite, each of which delays writes. */
const MAX_SCRUBS = 10;
/** Pause between attempts; longer than the service keeps a snapshot. */
const SCRUB_PAUSE_MS = 1_000;

export interface DeletionOptions {
  store: BatchingStore;
  /** Pause after a full batch. */
  pauseMs: number;
  /** Ends the deletion after the current batch. */
  signal?: AbortSignal;
  /** Called after each batch with the number of rows that it has deleted. */
  onDeleted?: ((rows: number) => void) | undefined;
}

interface PurgeOptions extends DeletionOptions {
  /** Milliseconds since 1970. */
  now: number;
  /** Rows older than this are deleted. */
  before: number;
}

export interface Purged {
  events: number;
  deliveries: number;
  usage: number;
}

/** Deletes old rows of every environment; returns their numbers. */
export async function purgeEvents(options: PurgeOptions): Promise<Purged> {
  const { store, now, before, signal } = options;
  const purged = { events: 0, deliveries: 0, usage: 0 };
  // Deletes deliveries before their events, without which they cannot be sent.
  for await (const endpoint of endpointsWithDeliveries(store, startOfWorkspace(0), signal))
    purged.deliveries += await deleteAll(options, await deletionOfDeliveries(options, endpoint));
  for await (const found of tenantsWithEvents(store, signal)) {
    if (!mayHaveOld(found, options)) continue;
    const tenant = tenantOf(found);
    const command = { kind: 'deleteOldEvents', tenant, before, ...(isAhead(found, now) && { now }) } as const;
    purged.events += await deleteAll(options, (batch) => store.write({ ...command, ...batch }));
  }
  for await (const { firstDay, ...tenant } of tenantsWithUsage(store, signal)) {
    const command = { kind: 'deleteOldUsage', tenant, before: toDay(before) } as const;
    if (firstDay < command.before)
      purged.usage += await deleteAll(options, (batch) => store.write({ ...command, ...batch }));
  }
  await scrub(options);
  return purged;
}

/** Whether a clock that was ahead recorded the oldest event: then events after it may be old. */
function isAhead({ oldestEventAt }: TenantWithEvents, now: number): boolean {
  return oldestEventAt > now;
}

function mayHaveOld(
  tenant: TenantWithEvents,
  { now, before }: Pick<PurgeOptions, 'now' | 'before'>,
): boolean {
  return tenant.oldestEventAt < before || isAhead(tenant, now);
}

/**
 * Removes the values of deleted groups and events from the files of the database, unless another program
 * keeps a snapshot.
 */
export async function scrub({ store, signal }: Pick<PurgeOptions, 'store' | 'signal'>): Promise<void> {
  for (let attempt = 0; attempt < MAX_SCRUBS && !signal?.aborted; attempt++) {
    if (await store.write({ kind: 'scrub' })) return;
    await sleep(SCRUB_PAUSE_MS, null, { signal }).catch(() => {});
  }
}

/** Returns when the oldest event of all environments occurred; null if there is none. */
export async function findOldestEvent(store: BatchingStore, signal: AbortSignal): Promise<number | null> {
  let oldest: number | null = null;
  for await (const { oldestEventAt } of tenantsWithEvents(store, signal))
    oldest = Math.min(oldest ?? oldestEventAt, oldestEventAt);
  return oldest;
}

/** Whether any environment may have events or usage to delete. */
export async function hasOld(options: Omit<PurgeOptions, 'pauseMs'>): Promise<boolean> {
  const { store, before, signal } = options;
  for await (const tenant of tenantsWithEvents(store, signal)) if (mayHaveOld(tenant, options)) return true;
  for await (const { firstDay } of tenantsWithUsage(store, signal)) if (firstDay < toDay(before)) return true;
  return false;
}

/** Whether any environment has usage counts on the day. */
export async function hasUsageOn(store: BatchingStore, day: Day, signal: AbortSignal): Promise<boolean> {
  for await (const tenant of tenantsWithUsage(store, signal)) {
    const query = { tenant: tenantOf(tenant), day, after: '', limit: 1 };
    const counts = await store.read({ kind: 'listUsageOfDay', ...query });
    if (counts.length > 0) return true;
  }
  return false;
}

/** Yields the webhook endpoints after a position that have deliveries, whether or not they exist. */
export function endpointsWithDeliveries(
  store: BatchingStore,
  start: EndpointPosition,
  signal?: AbortSignal,
): AsyncGenerator<WebhookEndpointKey> {
  return iterate((after) => store.read({ kind: 'findNextEndpoint', after: after ?? start }), signal);
}

function tenantsWithEvents(store: BatchingStore, signal?: AbortSignal): AsyncGenerator<TenantWithEvents> {
  return iterate((after) => store.read({ kind: 'findNextTenant', after }), signal);
}

function tenantsWithUsage(store: BatchingStore, signal?: AbortSignal): AsyncGenerator<TenantWithUsage> {
  return iterate((after) => store.read({ kind: 'findNextTenantWithUsage', after }), signal);
}

async function* iterate<Found>(
  findNext: (after: Found | null) => Promise<Found | null>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Found> {
  let found: Found | null = null;
  while (!signal?.aborted) {
    found = await findNext(found);
    if (found === null) return;
    yield found;
  }
}

/** Returns the deletion of old deliveries; for an endpoint that does not exist, the deletion of all. */
async function deletionOfDeliveries(
  { store, before }: PurgeOptions,
  endpoint: WebhookEndpointKey,
): Promise<Deletion> {
  const document = await store.read({ kind: 'findDocument', key: endpointDocumentKey(endpoint) });
  if (document !== null)
    return (batch) => store.write({ kind: 'deleteOldDeliveries', endpoint, before, ...batch });
  return async ({ limit }) => {
    const deleted = await store.write({ kind: 'deleteDeliveries', endpoint, limit });
    return { deleted, hasMore: deleted === limit };
  };
}

type Deletion = (batch: DeletionBatch) => Promise<DeletedRows>;

/** Deletes all rows in small transactions; returns their number. */
export async function deleteAll(
  { pauseMs, signal, onDeleted }: DeletionOptions,
  deletion: Deletion,
): Promise<number> {
  let total = 0;
  let after: Continuation | undefined;
  for (let isEnd = false; !isEnd && !signal?.aborted; ) {
    const { deleted, hasMore, next } = await deletion({ limit: BATCH, after });
    total += deleted;
    onDeleted?.(deleted);
    after = next;
    isEnd = !hasMore;
    const share = Math.max(deleted / BATCH, MIN_SHARE);
    // Pauses only after deletions, and in proportion to them: thousands of environments may have few old
    // rows, or none.
    if (deleted > 0) await sleep(share * pauseMs, null, { signal }).catch(() => {});
  }
  return total;
}
