// Events for the changes that operations make. Adapters complete and store them in the transaction of the change.

import type { Caller } from '../domain/api-token.ts';
import type { Bucket } from '../domain/bucket.ts';
import {
  type Actor,
  bucketOfTarget,
  type EventTarget,
  type EventType,
  type NewEvent,
  newEventId,
  type Origin,
} from '../domain/event.ts';
import type { UserGroupKey } from '../domain/user-group.ts';
import type { Context } from './context.ts';
import type { EnvironmentConfig } from './environment-config.ts';

export type EventContext = Pick<Context, 'store' | 'clock' | 'configs' | 'origin' | 'keepsEvents'>;

/** A promise only if the configuration has to be read; undefined if no events are kept. */
export function newEvent(
  context: EventContext,
  caller: Caller,
  type: EventType,
  target: EventTarget,
  bucket = bucketOfTarget(caller, target),
): NewEvent | Promise<NewEvent> | undefined {
  if (!context.keepsEvents) return undefined;
  const config = context.configs.of(context.store, caller);
  const eventWith = (known: EnvironmentConfig) => eventOf(context, caller, type, target, bucket, known);
  return config instanceof Promise ? config.then(eventWith) : eventWith(config);
}

function eventOf(
  { clock, origin }: EventContext,
  caller: Caller,
  type: EventType,
  target: EventTarget,
  bucket: Bucket,
  config: EnvironmentConfig,
): NewEvent {
  const { workspaceId, environment } = caller;
  const occurredAt = clock();
  return {
    workspaceId,
    environment,
    bucket,
    target,
    eventId: newEventId(occurredAt),
    type,
    occurredAt,
    actor: actorOf(caller, origin),
    requestId: origin.requestId,
    endpoints: config.endpointsFor(type),
  };
}

export function userGroupEvent(
  context: EventContext,
  caller: Caller,
  change: 'created' | 'updated' | 'token_rotated' | 'deleted',
  { bucket, providedId }: Pick<UserGroupKey, 'bucket' | 'providedId'>,
): NewEvent | Promise<NewEvent> | undefined {
  return newEvent(context, caller, `user_group.${change}`, { type: 'user_group', id: providedId }, bucket);
}

function actorOf({ apiTokenId, name }: Caller, { via }: Origin): Actor {
  if (apiTokenId !== null) return { type: 'api_token', id: apiTokenId, name, via };
  const type = via === 'service' ? 'service' : 'command_line';
  return { type, id: null, name: null, via };
}
