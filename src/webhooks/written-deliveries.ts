import type { NewEvent } from '../domain/event/event.ts';
import type { WebhookEndpointKey } from '../domain/webhook-endpoint/delivery.ts';
import type { BatchingStore } from '../store/batching-store.ts';
import type { Command } from '../store/port.ts';

const NONE: readonly never[] = [];

/** Calls `wake` when a command is committed, with the endpoints for which it made deliveries due. */
export function onDueDeliveries(
  store: BatchingStore,
  wake: (endpoints: readonly WebhookEndpointKey[]) => void,
): void {
  store.onWrite((command) => {
    const endpoints = endpointsWithDelivery(command);
    return endpoints.length === 0 ? null : () => wake(endpoints);
  });
}

function endpointsWithDelivery(command: Command): readonly WebhookEndpointKey[] {
  if (command.kind === 'retryDelivery' || command.kind === 'retryFailedDeliveries') return [command.endpoint];
  const delivered = eventsOf(command).filter(({ endpoints }) => endpoints.length > 0);
  const [first] = delivered;
  if (first === undefined) return NONE;
  const { workspaceId, environment } = first;
  const ids = new Set(delivered.flatMap(({ endpoints }) => endpoints));
  return Array.from(ids, (endpointId) => ({ workspaceId, environment, endpointId }));
}

/** Returns the events of a command, all of one environment. */
function eventsOf(command: Command): readonly NewEvent[] {
  const event = 'event' in command ? command.event : undefined;
  const config =
    command.kind === 'changeConfig' ? command : command.kind === 'renameUserGroup' ? command.config : null;
  const changes = config?.changes ?? NONE;
  if (changes.length === 0) return event === undefined ? NONE : [event];
  return [event, ...changes.map((change) => change.event)].filter((each) => each !== undefined);
}
