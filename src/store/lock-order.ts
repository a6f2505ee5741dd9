// Orders in which every process locks rows, so that two of them do not deadlock.

import { compareIds } from '../domain/id-order.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { UserGroupKey } from '../domain/user-group/user-group.ts';
import type { DeliveryKey, WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';

/** User groups. */
export function byKey({ key: a }: { key: UserGroupKey }, { key: b }: { key: UserGroupKey }): number {
  return a.bucket - b.bucket || byTenant(a, b) || compare(a.providedId, b.providedId);
}

/** Environments, whose rows changes of documents lock. */
export function byTenant(a: Tenant, b: Tenant): number {
  return a.workspaceId - b.workspaceId || compare(a.environment, b.environment);
}

/** Webhook endpoints; an environment comes before its endpoints. */
export function byEndpoint(a: Tenant & Partial<WebhookEndpointKey>, b: typeof a): number {
  return byTenant(a, b) || compareIds(a.endpointId ?? '', b.endpointId ?? '');
}

export function byDelivery(a: DeliveryKey, b: DeliveryKey): number {
  return byEndpoint(a, b) || compareIds(a.eventId, b.eventId);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
