import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { listEvents } from '../../operations/event/list.ts';
import { filteredEvents } from '../event/list.ts';
import { eventTableOfOne } from '../event/table.ts';
import { type Html, html, idLink, none, pathTo } from '../html.ts';
import { type Page, type PageCall, READERS, unlessBusy } from '../page.ts';

/** Events include those of deleted groups with this id, so the group need not exist. */
export const events: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id/events',
  permissions: READERS,
  purpose: 'list events',
  access: 'list',
  handle: async (call) => {
    const id = userGroupIdParameter(call.request);
    return {
      title: `Events of ${id}`,
      main: html`<h1>Events of a user group</h1>
<p>${idLink(pathTo('user-groups', id), id)}</p>
${await filteredEvents(call, (page) => eventTableOfOne(call.caller, page, id), { type: 'user_group', id })}`,
    };
  },
};

/** The last events of a user group. Lists are slowed down under load: the page is shown without them then. */
export async function lastEvents({ context, caller }: PageCall, id: string, limit: number): Promise<Html> {
  const target = { type: 'user_group', id } as const;
  const page = await unlessBusy(listEvents(context, caller, { order: 'newest', limit, target }));
  if (page === null) return none('The service is too busy to list them now.');
  return page.events.length === 0 ? none('No events.') : eventTableOfOne(caller, page, id);
}
