import type { EventTarget } from '../../domain/event/event.ts';
import type { Context } from '../../operations/context.ts';
import { listEvents } from '../../operations/event/list.ts';
import { type Html, html, none } from '../markup/html.ts';
import { type PageCall, unlessBusy } from '../page.ts';
import { eventTable } from './table.ts';

/** Maximum size of the events on a page about something else. */
const MAX_BYTES = 25_000;

/**
 * Shows the last events about one target, fewer than `limit` if they are large. Under load, when lists are
 * slowed down, says so instead.
 */
export async function lastEvents(
  call: PageCall,
  target: EventTarget,
  limit: number,
  userGroupId?: string,
): Promise<Html> {
  const { context, caller } = call;
  const events = listEvents(context, caller, { order: 'newest', limit, target }).then(async (page) => {
    if (page.events.length === 0) return noEvents(context);
    return (await eventTable(call, page, MAX_BYTES, userGroupId)).table;
  });
  return html`<h2>Last events</h2>
${(await unlessBusy(events)) ?? none('The service is too busy to list them now.')}`;
}

/** Shows only a few events by default: most callers are pages about something else. */
export function lastEventsOfGroup(call: PageCall, id: string, limit = 3): Promise<Html> {
  return lastEvents(call, { type: 'user_group', id }, limit, id);
}

export function noEvents({ eventRetentionDays }: Context): Html {
  return none(
    eventRetentionDays > 0 ? 'No events.' : 'This service records no events (UGS_EVENT_RETENTION_DAYS is 0).',
  );
}
