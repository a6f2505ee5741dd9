// Events in responses: their parameters, schema, and an example.

import { type EventTarget, eventTypes, type TargetType, targetTypes } from '../../../domain/event/event.ts';
import { EVENT_BYTES } from '../../../domain/event/quota.ts';
import * as field from '../../../domain/field.ts';
import { parseInstant } from '../../../domain/instant.ts';
import type { SchemaMembers } from '../../../domain/schema-value.ts';
import type { EventQuery, EventsPage } from '../../../operations/event/list.ts';
import { Problem } from '../../../problem.ts';
import { successExample } from '../../description.ts';
import { jsonArray, raw, successBody } from '../../json.ts';
import { namedSchema, type Schema, successSchema, timestampSchema } from '../../schema.ts';

export const eventParameters = {
  order: {
    type: 'string',
    enum: ['newest', 'oldest'],
    default: 'newest',
    description:
      '`newest`: the newest event first, until `next_cursor` is null. `oldest`: the feed, the oldest event first; `next_cursor` is never null.',
  },
  limit: {
    ...field.pageLimit,
    description: `Maximum number of events per page. A page ends early after ${field.limits.pageBytes / 1024} KiB.`,
  },
  cursor: {
    ...field.cursor,
    description:
      'The `next_cursor` of the previous page, for the same order and filters. Absent for the first page.',
  },
  type: { type: 'string', enum: eventTypes, description: 'Only events of this type.' },
  actor: { ...field.assignedNumber, description: 'Only events by the API token with this id.' },
  since: { ...field.instant, description: 'Only events from this instant (RFC 3339) on.' },
  until: { ...field.instant, description: 'Only events before this instant (RFC 3339).' },
  field: {
    ...field.text,
    maxLength: 2 * field.limits.textCodePoints,
    description:
      'Only events that changed this: a field, such as `name`, or a member of one, such as `mapping.40`.',
  },
  request_id: { ...field.text, description: 'Only events of the request with this `X-Request-Id`.' },
} as const;

export const targetTypeParameter = {
  type: 'string',
  enum: targetTypes,
  description: 'Only events about things of this type.',
} as const;

const targetDetail = `must be one of ${targetTypes.join(', ')}, followed by a colon and an id, such as user_group:acme-7`;

export const targetParameter = {
  type: 'string',
  // Without the types: a later version may have more, and must not change the pattern.
  pattern: '^[a-z_]+:',
  minLength: 1,
  'x-pattern-detail': targetDetail,
  description: `Only events about this: ${targetTypes.map((type) => `\`${type}:…\``).join(', ')}, with its id after the colon.`,
} as const;

/** `text` must match the pattern of the parameter. Throws `invalid_request` for an unknown type. */
export function parseTarget(text: string): EventTarget {
  const type = targetTypes.find((each) => text.startsWith(`${each}:`));
  if (type === undefined) throw new Problem('invalid_request', `The parameter target ${targetDetail}.`);
  return { type, id: text.slice(type.length + 1) };
}

export function eventQuery(
  {
    actor,
    since,
    until,
    field: changed,
    request_id: requestId,
    ...values
  }: SchemaMembers<typeof eventParameters>,
  targetType?: TargetType,
): EventQuery {
  const [from, to] = [since, until].map((text) => (text === undefined ? undefined : parseInstant(text)!));
  const filter = { targetType, actor, since: from, until: to, changed, requestId };
  return { ...values, filter };
}

export function eventPage({ events, nextCursor }: EventsPage): string {
  return successBody({ events: jsonArray(events.map(({ json }) => raw(json))), next_cursor: nextCursor });
}

const actorSchema = namedSchema('EventActor', {
  type: { type: 'string', enum: ['api_token', 'command_line', 'service'] },
  id: { type: ['integer', 'null'], description: 'Number of the API token.' },
  name: { type: ['string', 'null'], description: 'Name of the API token.' },
  via: { type: 'string', enum: ['api', 'console', 'command_line', 'service'] },
});

const changesSchema: Schema = {
  type: ['object', 'null'],
  additionalProperties: true,
  description:
    'The changed fields, each with its value before and after as `{"from", "to"}`; for `mapping` and `properties` each ' +
    'changed member. A member that was absent has no `from`, one that was removed no `to`. If both values are objects, ' +
    '`from` and `to` have only the members that differ, at any depth. `{"truncated": true}` in place of `{"from", "to"}`, ' +
    `or of all members of a field, says that the values are omitted: an event has at most ${EVENT_BYTES / 1024} KiB of ` +
    'changes, and an environment a quota. null if the type has no changes, or if they were removed because the user ' +
    'group was deleted; the ids of a `user_group.renamed` stay.',
};

/** Schema of an event in a list, and of the body of a webhook. */
export const eventSchema = namedSchema('Event', {
  event_id: {
    type: 'string',
    description: 'Unique. Events can be delivered more than once: use it to recognize them.',
  },
  type: { type: 'string', description: 'One of the types of the parameter `type`. More may be added.' },
  occurred_at: timestampSchema,
  actor: actorSchema,
  target: namedSchema('EventTarget', {
    type: { type: 'string', description: 'Kind of object that changed. More types may be added.' },
    id: { type: 'string', description: 'Its id. For a user group, your own.' },
  }),
  version: { type: ['integer', 'null'], description: 'Version of the target after the change.' },
  request_id: { type: ['string', 'null'], description: '`X-Request-Id` of the response.' },
  changes: changesSchema,
});

export const EventPage = successSchema('EventPage', {
  events: { type: 'array', items: eventSchema },
  next_cursor: {
    type: ['string', 'null'],
    description: 'The `cursor` of the next page. With `order=newest`, null on the last page.',
  },
});

export const exampleEvent = {
  event_id: 'evt_019d0f6f4a0000005ad6b0d4c2f91e83',
  type: 'user_group.updated',
  occurred_at: '2026-03-05T16:04:12.345Z',
  actor: { type: 'api_token', id: 12, name: 'nightly sync', via: 'api' },
  target: { type: 'user_group', id: 'acme-7' },
  version: 3,
  request_id: '6f1d2b7c-8a34-4a6e-9f0c-1b8f0f3f4d21',
  changes: { properties: { plan: { from: 'silver', to: 'gold' }, seats: { to: 25 } } },
};

export const pageExamples = successExample('updated', 'An update', {
  events: [exampleEvent],
  next_cursor: null,
});
