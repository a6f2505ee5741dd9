import type { EventTarget } from '../../domain/event/event.ts';
import type { Context } from '../../operations/context.ts';
import { listEvents } from '../../operations/event/list.ts';
import { type Html, none } from '../markup/html.ts';
import { type PageCall, unlessBusy } from '../page.ts';
import { eventTable } from './table.ts';

/** Shows the last events about one target. Under load, when lists are slowed down, says so instead. */
export async function lastEvents(
  call: PageCall,
  target: EventTarget,
  limit: number,
  userGroupId?: string,
): Promise<Html> {
  const { context, caller } = call;
  const events = listEvents(context, caller, { order: 'newest', limit, target }).then((page) =>
    page.events.length === 0 ? noEvents(context) : eventTable(call, page, userGroupId),
  );
  return (await unlessBusy(events)) ?? none('The service is too busy to list them now.');
}

export function noEvents({ keepsEvents }: Context): Html {
  return none(keepsEvents ? 'No events.' : 'This service records no events (UGS_EVENT_RETENTION_DAYS is 0).');
}
