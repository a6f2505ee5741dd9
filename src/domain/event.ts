// Events: what changed, who changed it, and when. An event is written in the transaction of its change.
//
// A stored event has the changed fields before and after the change as they are stored, so that a write copies text and
// parses nothing; `memberChanges` compares them, member by member, when the event is read.

import { type Bucket, bucketOf } from './bucket.ts';
import { JsonObject, sameJson, textOf, treeOf } from './json-tree.ts';
import { takeRandomText } from './random-bytes.ts';
import type { JsonText } from './strict-json.ts';
import type { Environment, UserGroup } from './user-group.ts';

export const eventTypes = [
  'user_group.created',
  'user_group.updated',
  'user_group.token_rotated',
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

export const targetTypes = [
  'user_group',
  'api_token',
  'webhook_endpoint',
  'schema',
  'data_source',
  'mapping_policy',
  'property_schema',
  'integration',
  'key_set',
] as const;
export type TargetType = (typeof targetTypes)[number];

/** What changed. The id of a user group is the caller's own id of it. */
export interface EventTarget {
  readonly type: TargetType;
  readonly id: string;
}

/** Who made the change, and through what. */
export interface Actor {
  type: 'api_token' | 'command_line' | 'service';
  /** Of the API token. */
  id: number | null;
  name: string | null;
  via: 'api' | 'console' | 'command_line' | 'service';
}

/** Through what a call arrived, and its request id. */
export interface Origin {
  via: Actor['via'];
  requestId: string | null;
}

/** One workspace and environment. */
export interface Tenant {
  readonly workspaceId: number;
  readonly environment: Environment;
}

/** An event before its change: an adapter completes it, and stores it in the transaction of the change. */
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
  /** Its place in the feed, together with the event id, and among the events of its target. */
  position: number;
  /** Of the target after the change; null if the target has no versions or is gone. */
  version: number | null;
  /** Fields before and after the change; null if there are none, or no longer. */
  changes: JsonText | null;
}

/** Where a feed continues: after this event. */
export interface EventPosition {
  position: number;
  eventId: string;
}

/** The key of an event. */
export type EventKey = Pick<StoredEvent, 'bucket' | 'workspaceId' | 'environment' | 'target' | 'position'>;

export function bucketOfTarget({ workspaceId, environment }: Tenant, { id }: EventTarget): Bucket {
  return bucketOf(workspaceId, environment, id);
}

let lastInstant = 0;
let lastInstantDigits = '';
let sequence = 0;
const SEQUENCES = 2 ** 16;

/** Ids of one process sort by time, byte for byte: 48 bits of milliseconds, 16 bits of a sequence, 64 random bits. */
export function newEventId(now: number): string {
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

type Fields = Readonly<Record<string, JsonText | null>>;
type GroupFields = Pick<UserGroup, 'name' | 'mapping' | 'properties' | 'suspendedAt'>;

/** The stored form of the changes between two versions of a group; `before` is null for a new one. */
export function userGroupChanges(before: GroupFields | null, after: GroupFields): JsonText | null {
  return before === null ? creationOf(after) : storedChanges(fieldsOf(before), fieldsOf(after));
}

/** The same as `storedChanges(null, …)`, in a quarter of the time. */
function creationOf({ name, mapping, properties }: GroupFields): JsonText {
  const mappingMember = mapping === null ? '' : `,"mapping":${mapping}`;
  const propertiesMember = properties === null ? '' : `,"properties":${properties}`;
  return `{"from":null,"to":{"name":${JSON.stringify(name)}${mappingMember}${propertiesMember}}}` as JsonText;
}

function fieldsOf({ name, mapping, properties, suspendedAt }: GroupFields) {
  return {
    name: JSON.stringify(name) as JsonText,
    mapping,
    properties,
    suspended: (suspendedAt === null ? 'false' : 'true') as JsonText,
  } satisfies Fields;
}

/** The stored form of the changes from `before` to `after`, each null if there is none; null if nothing differs. */
export function storedChanges(before: Fields | null, after: Fields | null): JsonText | null {
  const names = Object.keys(after ?? before ?? {}).filter(
    (name) => (before?.[name] ?? null) !== (after?.[name] ?? null),
  );
  if (names.length === 0) return null;
  return `{"from":${objectOf(before, names)},"to":${objectOf(after, names)}}` as JsonText;
}

function objectOf(fields: Fields | null, names: readonly string[]): string {
  if (fields === null) return 'null';
  return `{${names.map((name) => `${JSON.stringify(name)}:${fields[name] ?? 'null'}`).join(',')}}`;
}

/**
 * The changed fields as callers see them: `{"name": {"from", "to"}}`, and for a field that is an object its changed
 * members: `{"properties": {"plan": {"from", "to"}}}`. A member that is absent before or after has no `from` or `to`.
 */
export function memberChanges(changes: JsonText): JsonText {
  const stored = treeOf(changes) as JsonObject;
  const from = membersOf(stored.members.get('"from"'));
  const to = membersOf(stored.members.get('"to"'));
  const fields = [...new Set([...from.keys(), ...to.keys()])].flatMap((name) => {
    const change = fieldChange(from.get(name), to.get(name));
    return change === null ? [] : [`${name}:${change}`];
  });
  return `{${fields.join(',')}}` as JsonText;
}

type Members = ReadonlyMap<
  string,
  JsonObject['members'] extends ReadonlyMap<string, infer Tree> ? Tree : never
>;
type Tree = Members extends ReadonlyMap<string, infer Value> ? Value : never;

function membersOf(tree: Tree | undefined): Members {
  return tree instanceof JsonObject ? tree.members : new Map();
}

function fieldChange(from: Tree | undefined, to: Tree | undefined): string | null {
  if (!(from instanceof JsonObject) && !(to instanceof JsonObject)) return valueChange(from, to);
  const [before, after] = [membersOf(from), membersOf(to)];
  const members = [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const change = valueChange(before.get(key), after.get(key));
    return change === null ? [] : [`${key}:${change}`];
  });
  // An empty object has no members that differ from those of null.
  return members.length === 0 ? valueChange(from, to) : `{${members.join(',')}}`;
}

function valueChange(from: Tree | undefined, to: Tree | undefined): string | null {
  const [before, after] = [from && textOf(from), to && textOf(to)];
  if (before !== undefined && after !== undefined && sameJson(before, after)) return null;
  const parts = [
    ...(before === undefined ? [] : [`"from":${before}`]),
    ...(after === undefined ? [] : [`"to":${after}`]),
  ];
  return `{${parts.join(',')}}`;
}
