// An event as callers see it: on the pages of events and in the body of a webhook alike.

import { timestamp } from '../instant.ts';
import type { JsonText } from '../json/strict-json.ts';
import { memberChanges } from './changes.ts';
import type { StoredEvent } from './event.ts';

export function eventJson(event: StoredEvent): JsonText {
  const { eventId, type, occurredAt, actor, target, version, requestId, changes } = event;
  const members = JSON.stringify({
    event_id: eventId,
    type,
    occurred_at: timestamp(occurredAt),
    actor: { type: actor.type, id: actor.id, name: actor.name, via: actor.via },
    target: { type: target.type, id: target.id },
    version,
    request_id: requestId,
  });
  // Changes are stored JSON: their text must not be parsed and written again.
  return `${members.slice(0, -1)},"changes":${changes === null ? 'null' : memberChanges(changes)}}` as JsonText;
}
