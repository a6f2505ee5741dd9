// Erases the changes of events whose user group is deleted.

import type { EventKey } from '../../../domain/event/event.ts';
import { EVENT_TARGET } from '../../entities.ts';
import { erasureOf, IS_ERASABLE } from '../../event-deletion.ts';
import { bigint, RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';
import { IN_RANGE, OLDEST_FIRST } from './range.ts';

export const ERASURE = erasureOf(`from events where ${IN_RANGE} order by ${OLDEST_FIRST} limit $8`);

const ERASED = new RowShape({ ...EVENT_TARGET.fields, eraseAfter: bigint<number>('erase_after') });

export const ERASE = statement('erase_last_event_changes')`
  update events as stored set changes = null
  from ${sentRows(ERASED)}
  where ${isSent(EVENT_TARGET)} and stored.position > sent.erase_after and ${IS_ERASABLE}`;

/** Erases the changes after `eraseAfter`. */
export async function eraseLastChanges(
  session: Session,
  targets: readonly (Omit<EventKey, 'position'> & { eraseAfter: number })[],
): Promise<void> {
  if (targets.length > 0) await session.query(ERASE, toArrays(ERASED, targets));
}
