// Rules of webhook deliveries: when one is due, how an attempt changes it, and when an endpoint is disabled.

import { operator } from '../../domain/api-token.ts';
import { documentTag, UNLIMITED } from '../../domain/document.ts';
import type { VersionTag } from '../../domain/user-group/user-group.ts';
import {
  addAttempt,
  type Delivery,
  DISABLING_ATTEMPTS,
  dueAt,
  type FinishedAttempt,
  MAX_DELAY_MS,
  MAX_FAILING_MS,
  retryAt,
  type WebhookEndpointKey,
} from '../../domain/webhook-endpoint/delivery.ts';
import {
  endpointDocumentKey,
  parseWebhookEndpoint,
  webhookEndpointText,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import type { WebhookSecrets } from '../../domain/webhook-endpoint/webhook-signature.ts';
import type { ClaimedDeliveries } from '../../store/port.ts';
import type { Context } from '../context.ts';
import { type DocumentContext, withoutTarget } from '../document/document.ts';
import { type EventContext, newEvent } from '../event/event.ts';
import { inBatches } from '../pages.ts';
import { deleteOrphanedDeliveries, openSecrets, recordHealth } from './webhook-endpoint.ts';

export type DeliveryContext = DocumentContext & Pick<Context, 'cpu'>;

/**
 * Validity of a claim. An attempt takes less time, so no other process attempts the same delivery meanwhile.
 */
const CLAIM_MS = 20_000;
const GONE = 410;

export interface DueDeliveries extends Omit<ClaimedDeliveries, 'document'> {
  url: string;
  secrets: WebhookSecrets;
  /** Version of the endpoint that has this URL and these secrets. */
  tag: VersionTag;
}

/**
 * Claims due deliveries of an endpoint. If the endpoint does not exist or is disabled, gives up its
 * deliveries and returns null.
 */
export async function claimDue(
  context: DeliveryContext,
  endpoint: WebhookEndpointKey,
  limit: number,
  rangeAt = dueAt,
): Promise<DueDeliveries | null> {
  const { store, clock } = context;
  const document = await store.read({ kind: 'findDocument', key: endpointDocumentKey(endpoint) });
  if (document === null) {
    await deleteOrphanedDeliveries(context, endpoint);
    return null;
  }
  if (!parseWebhookEndpoint(document).enabled) {
    await giveUpDeliveries(context, endpoint);
    return null;
  }
  // Claims nothing that cannot be signed.
  openSecrets(context, document);
  const now = clock();
  const claim = { endpoint, due: rangeAt(now), until: now + CLAIM_MS, limit };
  // The claim may have events from after a change of the endpoint, which must not be sent to its earlier URL.
  const { document: current, ...claimed } = await store.write({ kind: 'claimDeliveries', ...claim });
  // Another endpoint may have got the id: it must not receive what was recorded before it was created.
  if (current?.createdAt !== document.createdAt) return null;
  const { url, enabled } = parseWebhookEndpoint(current);
  return enabled
    ? { ...claimed, url, secrets: openSecrets(context, current), tag: documentTag(current) }
    : null;
}

/** Gives up the deliveries of an endpoint until none is left or the endpoint is enabled again. */
export async function giveUpDeliveries(
  { store }: Pick<EventContext, 'store'>,
  endpoint: WebhookEndpointKey,
): Promise<void> {
  const error = 'the endpoint is disabled';
  await inBatches(async (limit) => {
    const document = await store.read({ kind: 'findDocument', key: endpointDocumentKey(endpoint) });
    if (document === null || parseWebhookEndpoint(document).enabled) return 0;
    const tag = documentTag(document);
    return await store.write({ kind: 'cancelDeliveries', endpoint, tag, error, limit });
  });
}

/** Result of an attempt. */
export interface Outcome {
  /** null without a response. */
  status: number | null;
  /** null if the receiver accepted the webhook. */
  error: string | null;
}

export function isGone({ status }: Outcome): boolean {
  return status === GONE;
}

/** `isFinal` prevents a retry. */
export function finishedAttempt(
  delivery: Delivery,
  { status, error }: Outcome,
  { at: now, durationMs, isFinal }: { at: number; durationMs: number; isFinal: boolean },
): FinishedAttempt {
  const nextAttemptAt = error === null || isFinal ? null : retryAt(delivery.attempts + 1, now);
  const { bucket, workspaceId, environment, endpointId, eventId } = delivery;
  return {
    key: { bucket, workspaceId, environment, endpointId, eventId },
    claimedUntil: delivery.nextAttemptAt!,
    state: error === null ? 'delivered' : nextAttemptAt === null ? 'failed' : 'pending',
    nextAttemptAt,
    attemptedAt: now,
    responseStatus: status,
    error,
    attemptLog: addAttempt(delivery.attemptLog, { at: now, durationMs, responseStatus: status, error }),
  };
}

export function hasFailedTooLong(failingSince: number | null, now: number): boolean {
  return failingSince !== null && now - failingSince >= MAX_FAILING_MS;
}

/**
 * Whether the failure of a delivery disables its endpoint. A pause since the last attempt, in which the service did not
 * run, counts only as the longest delay: the receiver may be starting too.
 */
export function isDisabling(
  outcome: Outcome,
  { attempts, lastAttemptAt }: Pick<Delivery, 'attempts' | 'lastAttemptAt'>,
  failingSince: number | null,
  now: number,
): boolean {
  if (isGone(outcome)) return true;
  const until = Math.min(now, (lastAttemptAt ?? now) + MAX_DELAY_MS);
  return attempts + 1 >= DISABLING_ATTEMPTS && hasFailedTooLong(failingSince, until);
}

/** Whether the endpoint exists and has this URL: an attempt may end after a change of it. */
export async function sendsTo(
  { store }: Pick<EventContext, 'store'>,
  endpoint: WebhookEndpointKey,
  url: string,
): Promise<boolean> {
  const document = await store.read({ kind: 'findDocument', key: endpointDocumentKey(endpoint) });
  return document !== null && parseWebhookEndpoint(document).url === url;
}

/**
 * Disables the endpoint if it still is the version that failed: it may have been enabled again meanwhile. Returns whether
 * it was disabled.
 */
export async function disableEndpoint(
  context: EventContext,
  endpoint: WebhookEndpointKey,
  tag: VersionTag,
): Promise<boolean> {
  const { store, clock } = context;
  const key = endpointDocumentKey(endpoint);
  const document = await store.read({ kind: 'findDocument', key });
  if (document === null || documentTag(document) !== tag) return false;
  const service = operator(endpoint);
  const event = await newEvent(context, service, 'webhook_endpoint.disabled', endpoint.endpointId);
  const result = await store.write({
    kind: 'putDocument',
    key,
    body: webhookEndpointText({ ...parseWebhookEndpoint(document), enabled: false }),
    precondition: { ifMatch: [tag] },
    limit: UNLIMITED,
    now: clock(),
    event: withoutTarget(event),
  });
  if (typeof result === 'string') return false;
  await recordHealth(context, endpoint, null);
  return true;
}
