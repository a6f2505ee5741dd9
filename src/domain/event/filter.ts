// Conditions on events that no index answers: a list reads events and leaves out those that do not meet them.

import { foldText } from '../fold-text.ts';
import type { JsonText } from '../json/strict-json.ts';
import { listChanges } from './changes.ts';
import type { Actor, StoredEvent, TargetType } from './event.ts';

export interface EventFilter {
  targetType?: TargetType | undefined;
  /** Id of the API token. */
  actor?: number | undefined;
  /** Part of the actor's label, regardless of case and accents. */
  actorText?: string | undefined;
  /** Milliseconds since 1970. */
  since?: number | undefined;
  /** Exclusive. */
  until?: number | undefined;
  /** A field, such as `name`, or a member of one, such as `mapping.40`. */
  changed?: string | undefined;
  requestId?: string | undefined;
}

/** Compiles a test of events, which folds the text of the filter once: a list tests thousands. */
export function compileEventFilter(filter: EventFilter): (event: StoredEvent) => boolean {
  const { targetType, actor, since, until, changed, requestId } = filter;
  const actorText = filter.actorText === undefined ? undefined : foldText(filter.actorText);
  return (event) => {
    if (targetType !== undefined && event.target.type !== targetType) return false;
    if (actor !== undefined && event.actor.id !== actor) return false;
    if (actorText !== undefined && !foldText(actorLabel(event.actor)).includes(actorText)) return false;
    if (since !== undefined && event.occurredAt < since) return false;
    if (until !== undefined && event.occurredAt >= until) return false;
    if (requestId !== undefined && event.requestId !== requestId) return false;
    return changed === undefined || (event.changes !== null && changesField(event.changes, changed));
  };
}

/** Label of an actor for people, with the number that distinguishes API tokens of the same name. */
export function actorLabel({ type, id, name }: Pick<Actor, 'type' | 'id' | 'name'>): string {
  if (type === 'service') return 'The service';
  return id === null ? 'Command line' : `${name ?? 'API token'} (${id})`;
}

/** Whether the stored changes have this field or member, or omit which members changed. */
function changesField(changes: JsonText, changed: string): boolean {
  const [field = ''] = changed.split('.', 1);
  const member = changed.length > field.length ? JSON.stringify(changed.slice(field.length + 1)) : null;
  if (member !== null && !changes.includes(member) && !changes.includes('"truncated"')) return false;
  return listChanges(changes).some(
    (change) =>
      change.field === JSON.stringify(field) &&
      (member === null || change.member === member || (change.member === null && change.isTruncated)),
  );
}
