// Creates, changes and tests webhook endpoints, rotates their secrets, and lists and repeats deliveries.

import type { Caller } from '../../domain/api-token.ts';
import { encodeCursor, type ListName } from '../../domain/cursor.ts';
import { type Document, documentTag } from '../../domain/document.ts';
import { firstEventIdAt } from '../../domain/event/event.ts';
import { eventJson } from '../../domain/event/json.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { isMetByTag, type Precondition } from '../../domain/precondition.ts';
import { invalidField } from '../../domain/request-body.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Tenant } from '../../domain/tenant.ts';
import type { Delivery, DeliveryState, WebhookEndpointKey } from '../../domain/webhook-endpoint/delivery.ts';
import { urlViolation } from '../../domain/webhook-endpoint/webhook-address.ts';
import {
  parseWebhookEndpoint,
  type WebhookEndpointBody,
  webhookEndpointDefinition,
  webhookEndpointText,
} from '../../domain/webhook-endpoint/webhook-endpoint.ts';
import {
  mintWebhookSecrets,
  parseWebhookSecrets,
  rotateWebhookSecrets,
  type WebhookSecrets,
  webhookSecretsText,
} from '../../domain/webhook-endpoint/webhook-signature.ts';
import { Problem } from '../../problem.ts';
import { type EndpointHealth, StoreUnavailable } from '../../store/port.ts';
import type { Context } from '../context.ts';
import {
  type DocumentContext,
  deleteDocument,
  documentKey,
  type NewDocument,
  openSecret,
  putPrepared,
  readDocument,
  type StoredDocument,
  type Target,
} from '../document/document.ts';
import { newEvent } from '../event/event.ts';
import { type PageQuery, readCursor } from '../list-cursor.ts';
import { inBatches } from '../pages.ts';
import { tooBusy, versionMismatch } from '../refusals.ts';

const definition = webhookEndpointDefinition;
/**
 * Number of deliveries that one query scans for those that are pending or delivered, or that one command makes
 * due.
 */
const LOOKED_AT = 500;
/**
 * Approximate maximum that one request redelivers. The receiver gets them as it accepts them, like all
 * deliveries.
 */
const MAX_REDELIVERED = 1_000;
/** Maximum up to which pending deliveries of an endpoint are counted. */
export const MAX_COUNTED = 1_000;
/** Maximum number of batches of deliveries that one call deletes; retention deletes the others. */
const MAX_DELETIONS = 40;

type WebhookContext = DocumentContext & Pick<Context, 'allowsPrivateWebhooks'>;

const put = putPrepared(definition, async (target: Target<WebhookContext>, body: WebhookEndpointBody) => {
  const prepared = prepareWebhookEndpoint(target, body);
  const { caller, key, stored } = target;
  if (stored === null) await prepareDeliveries(target.context, endpointKey(caller, key.id));
  return prepared;
});

/**
 * Creates or replaces a webhook endpoint. Returns the secret of a new endpoint, which is never shown again;
 * null for an existing one.
 */
export async function putWebhookEndpoint(
  context: WebhookContext,
  caller: Caller,
  id: string,
  body: WebhookEndpointBody,
  precondition: Precondition | undefined,
): Promise<StoredDocument & { secret: Secret | null }> {
  const stored = await put(context, caller, id, body, precondition);
  const forgetting = forgetFailures(context, stored.document);
  if (!stored.created) {
    await forgetting;
    return { ...stored, secret: null };
  }
  // A repeated call would not return the secret.
  await unlessUnavailable(forgetting);
  return { ...stored, secret: openSecrets(context, stored.document).current };
}

/** A new endpoint gets a secret. Throws `invalid_request` if webhooks must not be sent to the URL. */
export function prepareWebhookEndpoint(
  { context: { keyRing, allowsPrivateWebhooks }, key, stored }: Target<WebhookContext>,
  sent: WebhookEndpointBody,
): NewDocument {
  const violation = urlViolation(sent.url, allowsPrivateWebhooks);
  if (violation !== null) throw invalidField('/url', violation);
  const body = webhookEndpointText(sent);
  return stored === null
    ? { body, secret: keyRing.seal(webhookSecretsText(mintWebhookSecrets()), key) }
    : { body };
}

/**
 * Forgets failures before the last change of the endpoint: they may concern another URL, or an endpoint that was
 * deleted during an attempt.
 */
export async function forgetFailures(
  context: Pick<WebhookContext, 'store'>,
  document: Document,
): Promise<void> {
  const { failingSince } = await findHealth(context, document, document.id, 0);
  if (failingSince !== null && failingSince <= document.updatedAt)
    await recordHealth(context, endpointKey(document, document.id), null);
}

/**
 * Records a failure at this time, or with null that there is none. Returns since when the endpoint has been
 * failing.
 */
export function recordHealth(
  { store }: Pick<WebhookContext, 'store'>,
  endpoint: WebhookEndpointKey,
  since: number | null,
): Promise<number | null> {
  return store.write({ kind: 'setFailingSince', endpoint, since });
}

/** Deletes the endpoint and its deliveries. Throws `not_found` and `version_mismatch`. */
export async function deleteWebhookEndpoint(
  context: DocumentContext,
  caller: Caller,
  id: string,
  precondition: Precondition | undefined,
): Promise<void> {
  await deleteDocument(context, caller, definition, id, precondition);
  await forgetEndpoint(context, endpointKey(caller, id));
}

/** Deletes the health and deliveries of a deleted endpoint. */
export function forgetEndpoint(
  context: Pick<WebhookContext, 'store'>,
  endpoint: WebhookEndpointKey,
): Promise<void> {
  const forgetting = recordHealth(context, endpoint, null).then(() =>
    deleteOrphanedDeliveries(context, endpoint, MAX_DELETIONS),
  );
  return unlessUnavailable(forgetting);
}

/** Ignores that the database fails in what follows a change that is already stored. */
export async function unlessUnavailable(followUp: Promise<unknown>): Promise<void> {
  try {
    await followUp;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

/**
 * Deletes the remaining deliveries of a deleted endpoint before another one with its id is created, which
 * would deliver them to another receiver. Throws `overloaded` if there are too many for one call.
 */
export async function prepareDeliveries(
  context: Pick<WebhookContext, 'store'>,
  endpoint: WebhookEndpointKey,
): Promise<void> {
  if (await deleteOrphanedDeliveries(context, endpoint, MAX_DELETIONS)) return;
  throw tooBusy(
    'A deleted webhook endpoint with this id has many deliveries, which are being deleted before its id can be used again. Repeat the request.',
  );
}

/** Deletes deliveries unless their endpoint exists. Returns whether that is done. */
export function deleteOrphanedDeliveries(
  { store }: Pick<WebhookContext, 'store'>,
  endpoint: WebhookEndpointKey,
  maxBatches?: number,
): Promise<boolean> {
  return inBatches((limit) => store.write({ kind: 'deleteDeliveries', endpoint, limit }), maxBatches);
}

/**
 * Replaces the secret; for a day, the old and the new one both sign. Throws `not_found` and
 * `version_mismatch`.
 */
export async function rotateWebhookSecret(
  context: DocumentContext,
  caller: Caller,
  id: string,
  precondition: Precondition | undefined,
): Promise<{ document: Document; secrets: WebhookSecrets }> {
  const stored = await readDocument(context, caller, definition, id);
  if (!isMetByTag(precondition, documentTag(stored))) throw versionMismatch(definition.noun);
  const key = documentKey(caller, definition, id);
  const now = context.clock();
  const secrets = rotateWebhookSecrets(openSecrets(context, stored), now);
  const result = await context.store.write({
    kind: 'putDocument',
    key,
    body: stored.body,
    secret: context.keyRing.seal(webhookSecretsText(secrets), key),
    precondition: { ifMatch: [documentTag(stored)] },
    limit: definition.limit,
    now,
    event: await newEvent(context, caller, 'webhook_endpoint.secret_rotated', id),
  });
  // Not repeated, even without a precondition: after a concurrent rotation, a further one would end the
  // secret in use.
  if (typeof result === 'string') throw versionMismatch(definition.noun);
  return { document: result.document, secrets };
}

/** Throws `database_unavailable` if the secrets cannot be decrypted. */
export function openSecrets(context: Pick<Context, 'keyRing'>, document: Document): WebhookSecrets {
  return parseWebhookSecrets(openSecret(context, document, definition.noun));
}

/** Records an event that is delivered only to this endpoint; returns its id. */
export async function testWebhookEndpoint(
  context: DocumentContext,
  caller: Caller,
  id: string,
): Promise<string> {
  await requireEnabled(context, caller, id);
  const event = await newEvent(context, caller, 'webhook_endpoint.tested', id);
  if (event === undefined) {
    throw new Problem(
      'invalid_request',
      'This service records no events (UGS_EVENT_RETENTION_DAYS is 0), so it delivers none.',
    );
  }
  await context.store.write({ kind: 'recordEvent', event: { ...event, endpoints: [id] } });
  return event.eventId;
}

/** Lists deliveries, newest first. With a state, a page may have fewer although more follow. */
export async function listDeliveries(
  context: DocumentContext,
  caller: Caller,
  id: string,
  { limit, cursor, state }: PageQuery & { state?: DeliveryState },
): Promise<{ deliveries: Delivery[]; nextCursor: string | null }> {
  await readDocument(context, caller, definition, id);
  const list: ListName = ['deliveries', caller.workspaceId, caller.environment, id];
  const before = cursor === undefined ? null : readCursor(list, cursor);
  const endpoint = endpointKey(caller, id);
  const isFailed = state === 'failed';
  const lookedAt = state === undefined || isFailed ? limit : LOOKED_AT;
  const query = { endpoint, before, limit: lookedAt + 1, isFailed };
  const found = await context.store.read({ kind: 'listDeliveries', ...query });
  const candidates = found.slice(0, lookedAt);
  const matching = candidates.filter((each) => state === undefined || each.state === state);
  const deliveries = matching.slice(0, limit);
  const last = matching.length > limit ? deliveries.at(-1) : candidates.at(-1);
  const hasMore = matching.length > limit || found.length > lookedAt;
  return { deliveries, nextCursor: hasMore ? encodeCursor(list, last!.eventId) : null };
}

/** Delivers an event to the endpoint again, with all retries. Throws `not_found`. */
export async function redeliver(
  context: DocumentContext,
  caller: Caller,
  id: string,
  eventId: string,
): Promise<void> {
  await requireEnabled(context, caller, id);
  const now = context.clock();
  const exists = await context.store.write({
    kind: 'retryDelivery',
    endpoint: endpointKey(caller, id),
    eventId,
    now,
  });
  if (!exists) throw noDelivery();
}

/**
 * Redelivers failed deliveries of events since `since`, oldest first, with all retries. Bounded: `hasMore`
 * tells whether there may be more. Throws `not_found`.
 */
export async function redeliverFailed(
  context: DocumentContext,
  caller: Caller,
  id: string,
  since: number,
): Promise<{ redelivered: number; hasMore: boolean }> {
  await requireEnabled(context, caller, id);
  const endpoint = endpointKey(caller, id);
  const after = firstEventIdAt(since);
  const now = context.clock();
  for (let redelivered = 0; ; ) {
    const { retried, hasMore } = await context.store.write({
      kind: 'retryFailedDeliveries',
      endpoint,
      after,
      now,
      limit: LOOKED_AT,
    });
    redelivered += retried;
    if (!hasMore || redelivered >= MAX_REDELIVERED) return { redelivered, hasMore };
  }
}

/** Returns when the oldest event occurred whose delivery has failed; null if none has. Throws `not_found`. */
export async function findFirstFailedAt(
  context: DocumentContext,
  caller: Caller,
  id: string,
): Promise<number | null> {
  await readDocument(context, caller, definition, id);
  return context.store.read({ kind: 'findFirstFailedAt', endpoint: endpointKey(caller, id) });
}

/**
 * Returns a delivery with the event as receivers get it; `payload` is null if retention has deleted the
 * event. Throws `not_found`.
 */
export async function readDelivery(
  context: DocumentContext & Pick<Context, 'cpu'>,
  caller: Caller,
  id: string,
  eventId: string,
): Promise<{ delivery: Delivery; payload: JsonText | null }> {
  await readDocument(context, caller, definition, id);
  const endpoint = endpointKey(caller, id);
  const delivery = await context.store.read({ kind: 'findDelivery', endpoint, eventId });
  if (delivery === null) throw noDelivery();
  const event = await context.store.read({ kind: 'findEvent', key: delivery });
  await context.cpu.turn(event?.changes?.length ?? 0);
  return { delivery, payload: event === null ? null : eventJson(event) };
}

/** Throws `not_found`. */
export async function readHealth(
  context: DocumentContext,
  caller: Caller,
  id: string,
): Promise<EndpointHealth> {
  await readDocument(context, caller, definition, id);
  return findHealth(context, caller, id);
}

/** Reads the health of an existing endpoint; pending deliveries are counted up to `atMost`. */
export function findHealth(
  { store }: Pick<WebhookContext, 'store'>,
  tenant: Tenant,
  id: string,
  atMost = MAX_COUNTED,
): Promise<EndpointHealth> {
  return store.read({ kind: 'findEndpointHealth', endpoint: endpointKey(tenant, id), atMost });
}

function noDelivery(): Problem {
  return new Problem('not_found', 'This webhook endpoint has no delivery of an event with this id.');
}

async function requireEnabled(context: DocumentContext, caller: Caller, id: string): Promise<void> {
  const document = await readDocument(context, caller, definition, id);
  if (parseWebhookEndpoint(document).enabled) return;
  throw new Problem('invalid_request', 'This webhook endpoint is disabled: enable it first.');
}

export function endpointKey({ workspaceId, environment }: Tenant, endpointId: string): WebhookEndpointKey {
  return { workspaceId, environment, endpointId };
}
