import type { EventTarget } from '../../domain/event/event.ts';
import { type EventsPage, listEvents } from '../../operations/event/list.ts';
import { type Html, none } from '../html.ts';
import { type PageCall, unlessBusy } from '../page.ts';

/** The last events about one thing. Lists are slowed down under load: the page is shown without them then. */
export async function lastEvents(
  { context, caller }: PageCall,
  target: EventTarget,
  limit: number,
  renderTable: (page: EventsPage) => Html,
): Promise<Html> {
  const page = await unlessBusy(listEvents(context, caller, { order: 'newest', limit, target }));
  if (page === null) return none('The service is too busy to list them now.');
  return page.events.length === 0 ? none('No events.') : renderTable(page);
}
