import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import type { Command } from '../store/port.ts';

const NONE: readonly WebhookEndpointKey[] = [];

/** Endpoints that have a due delivery once the command is committed. */
export function endpointsWithDelivery(command: Command): readonly WebhookEndpointKey[] {
  if (command.kind === 'retryDelivery' || command.kind === 'retryFailedDeliveries') return [command.endpoint];
  const event = 'event' in command ? command.event : undefined;
  if (event === undefined || event.endpoints.length === 0) return NONE;
  const { workspaceId, environment } = event;
  return event.endpoints.map((endpointId) => ({ workspaceId, environment, endpointId }));
}
