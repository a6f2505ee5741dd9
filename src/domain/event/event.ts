// Events: what changed, who changed it, and when. An event is written in the transaction of its change.

import { type Bucket, computeBucket } from '../bucket.ts';
import { MINUTE_MS } from '../instant.ts';
import type { JsonText } from '../json/strict-json.ts';
import { takeRandomText } from '../random-bytes.ts';
import type { Tenant } from '../tenant.ts';

export const eventTypes = [
  'user_group.created',
  'user_group.updated',
  'user_group.token_rotated',
  'user_group.token_revealed',
  'user_group.renamed',
  'user_group.deleted',
  'api_token.created',
  'api_token.rotated',
  'api_token.revoked',
  'webhook_endpoint.created',
  'webhook_endpoint.updated',
  'webhook_endpoint.secret_rotated',
  'webhook_endpoint.disabled',
  'webhook_endpoint.tested',
  'webhook_endpoint.deleted',
  'schema.created',
  'schema.updated',
  'schema.deleted',
  'data_source.created',
  'data_source.updated',
  'data_source.deleted',
  'mapping_policy.created',
  'mapping_policy.updated',
  'property_schema.created',
  'property_schema.updated',
  'property_schema.deleted',
  'property_schema.timed_out',
  'integration.created',
  'integration.updated',
  'integration.deleted',
  'key_set.created',
  'key_set.rotated',
] as const;
export type EventType = (typeof eventTypes)[number];

type StartOf<Type> = Type extends `${infer Start}.${string}` ? Start : never;
/** The type of what changed: the first part of the type of an event. */
export type TargetType = StartOf<EventType>;

const targetTypeByType = new Map(eventTypes.map((type) => [type, type.split('.', 1)[0] as TargetType]));
export const targetTypes = [...new Set(targetTypeByType.values())];

export function targetTypeOf(type: EventType): TargetType {
  return targetTypeByType.get(type)!;
}

/** Object of the change. The id of a user group is the caller's own id of it. */
export interface EventTarget {
  readonly type: TargetType;
  readonly id: string;
}

/** Author of the change, and the interface that was used. */
export interface Actor {
  type: 'api_token' | 'command_line' | 'service';
  /** Id of the API token. */
  id: number | null;
  name: string | null;
  via: 'api' | 'console' | 'command_line' | 'service';
}

/** Interface through which a call arrived, and its request id. */
export interface Origin {
  via: Actor['via'];
  requestId: string | null;
}

/** An event that is not stored yet: an adapter completes and stores it in the transaction of its change. */
export interface NewEvent extends Tenant {
  bucket: Bucket;
  target: EventTarget;
  eventId: string;
  type: EventType;
  /** Milliseconds since 1970. */
  occurredAt: number;
  actor: Actor;
  requestId: string | null;
  /** The webhook endpoints that receive it. */
  endpoints: readonly string[];
}

export interface StoredEvent extends Omit<NewEvent, 'endpoints'> {
  /** Place in the feed, together with the event id, and among the events of its target. */
  position: number;
  /** Version of the target after the change; null if the target has no versions or is gone. */
  version: number | null;
  /** Stored form, see `Changes`; null if there are none, or no longer. */
  changes: JsonText | null;
}

/** Position in a feed, which continues after this event. */
export interface EventPosition {
  position: number;
  eventId: string;
}

/** Positions after `after`, up to `upTo`. */
export interface PositionRange {
  readonly after: number;
  readonly upTo: number;
}

export const EVERY_POSITION: PositionRange = { after: 0, upTo: Number.MAX_SAFE_INTEGER };

export type EventKey = Pick<StoredEvent, 'bucket' | 'workspaceId' | 'environment' | 'target' | 'position'>;

export function bucketOfTarget({ workspaceId, environment }: Tenant, { id }: EventTarget): Bucket {
  return computeBucket(workspaceId, environment, id);
}

let lastInstant = 0;
let lastInstantDigits = '';
let sequence = 0;
const SEQUENCES = 2 ** 16;
/** A clock that is set back by more was ahead. */
const MAX_SET_BACK_MS = MINUTE_MS;

/**
 * Ids of one process sort by time, byte for byte: 48 bits of milliseconds, 16 bits of a sequence, 64 random bits. They
 * start again once a clock that was ahead is corrected, because deliveries are found and deleted by the time in their ids.
 */
export function newEventId(now: number): string {
  if (lastInstant - now > MAX_SET_BACK_MS) lastInstant = 0;
  sequence = now > lastInstant ? 0 : sequence + 1;
  const instant = Math.max(now, lastInstant) + Math.floor(sequence / SEQUENCES);
  sequence %= SEQUENCES;
  if (instant !== lastInstant) lastInstantDigits = instantDigits(instant);
  lastInstant = instant;
  return `evt_${lastInstantDigits}${sequence.toString(16).padStart(4, '0')}${takeRandomText(8, 'hex')}`;
}

function instantDigits(instant: number): string {
  return instant.toString(16).padStart(12, '0');
}

/** Sorts after the ids of all events before this instant, and before those of later ones. */
export function firstEventIdAt(instant: number): string {
  return `evt_${instantDigits(Math.max(0, instant))}`;
}
