import { listEvents } from '../../operations/event/list.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { type Html, none } from '../html.ts';
import type { PageCall } from '../page.ts';
import { eventTableOfOne } from './table.ts';

/** The last events of a user group. Lists are slowed down under load: the page is shown without them then. */
export async function lastEvents({ context, caller }: PageCall, id: string, limit: number): Promise<Html> {
  try {
    const target = { type: 'user_group', id } as const;
    const page = await listEvents(context, caller, { order: 'newest', limit, target });
    return page.events.length === 0 ? none('No events.') : eventTableOfOne(caller, page, id);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return none('The service is too busy to list them now.');
  }
}
