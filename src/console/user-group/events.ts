import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { filteredEvents } from '../event/list.ts';
import { eventTableOfOne } from '../event/table.ts';
import { html, idLink, pathTo } from '../html.ts';
import { type Page, READERS } from '../page.ts';

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
