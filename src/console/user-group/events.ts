import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import { eventsView } from '../event/list.ts';
import { isolated } from '../markup/html.ts';
import { type Page, READERS } from '../page.ts';
import { hasToken } from '../request/browser.ts';
import { groupIn } from './group.ts';

/** Events include those of deleted groups with this id, so the group need not exist. */
export const events: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id/events',
  permissions: READERS,
  purpose: 'list events',
  access: 'list',
  handle: async (call) => {
    const id = userGroupIdParameter(call.request);
    // Responds with 404 if the id is a pasted token: the page would show it.
    if (hasToken(id)) await groupIn(call);
    const subject = { type: 'user_group', id } as const;
    return eventsView(call, `Events of ${isolated(id)}`, subject);
  },
};
