import { listEvents } from '../../operations/event/list.ts';
import { type Html, none } from '../html.ts';
import { type PageCall, unlessBusy } from '../page.ts';
import { eventTableOfOne } from './table.ts';

/** The last events of a user group. Lists are slowed down under load: the page is shown without them then. */
export async function lastEvents({ context, caller }: PageCall, id: string, limit: number): Promise<Html> {
  const target = { type: 'user_group', id } as const;
  const page = await unlessBusy(listEvents(context, caller, { order: 'newest', limit, target }));
  if (page === null) return none('The service is too busy to list them now.');
  return page.events.length === 0 ? none('No events.') : eventTableOfOne(caller, page, id);
}
