// Creates the events of changes that operations make. Adapters complete and store them in the transaction of
// the change.

import type { Caller } from '../../domain/api-token.ts';
import type { Bucket } from '../../domain/bucket.ts';
import {
  type Actor,
  bucketOfTarget,
  type EventType,
  type NewEvent,
  newEventId,
  type Origin,
  targetTypeOf,
} from '../../domain/event/event.ts';
import type { UserGroupKey } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { EnvironmentConfigs } from '../document/environment-config.ts';

/** Members of `Context` that events need; parts of the context itself record events with them. */
export interface EventContext {
  store: BatchingStore;
  /** Milliseconds since 1970. */
  clock: () => number;
  configs: EnvironmentConfigs;
  /** Origin of this request. */
  origin: Origin;
  /** How long events are kept; 0: changes are not recorded as events. */
  eventRetentionDays: number;
}

/** Creates an event; returns undefined if no events are kept. `id` identifies what changed. */
export async function newEvent(
  context: EventContext,
  caller: Caller,
  type: EventType,
  id: string,
  bucket?: Bucket,
): Promise<NewEvent | undefined> {
  if (context.eventRetentionDays === 0) return undefined;
  const { store, clock, configs, origin } = context;
  const config = await configs.of(store, caller);
  const { workspaceId, environment } = caller;
  const target = { type: targetTypeOf(type), id };
  const occurredAt = clock();
  return {
    workspaceId,
    environment,
    bucket: bucket ?? bucketOfTarget(caller, target),
    target,
    eventId: newEventId(occurredAt),
    type,
    occurredAt,
    actor: eventActor(caller, origin),
    requestId: origin.requestId,
    endpoints: config.endpointsFor(type),
  };
}

export function userGroupEvent(
  context: EventContext,
  caller: Caller,
  type: Extract<EventType, `user_group.${string}`>,
  { bucket, providedId }: Pick<UserGroupKey, 'bucket' | 'providedId'>,
): Promise<NewEvent | undefined> {
  return newEvent(context, caller, type, providedId, bucket);
}

function eventActor({ apiTokenId, name }: Caller, { via }: Origin): Actor {
  if (apiTokenId !== null) return { type: 'api_token', id: apiTokenId, name, via };
  const type = via === 'service' ? 'service' : 'command_line';
  return { type, id: null, name: null, via };
}
