import { listEvents } from '../../../operations/event/list.ts';
import { endpoint } from '../../endpoint.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { queryType } from '../../request/query.ts';
import { EventPage, eventPage, eventParameters, eventQuery, pageExamples } from './representation.ts';

export const listOfUserGroup = endpoint({
  operationId: 'listUserGroupEvents',
  method: 'GET',
  paths: ['/v1/user-groups/:user_group_id/events'],
  permissions: ['read-write', 'read-only'],
  purpose: 'list events',
  access: 'list',
  query: queryType({ parameters: eventParameters, convert: (values) => eventQuery(values) }),
  handle: async ({ context, caller, query, request }) => {
    const target = { type: 'user_group', id: userGroupIdParameter(request) } as const;
    return eventPage(await listEvents(context, caller, { ...query, target }));
  },
  description: {
    tag: 'Events',
    summary: 'List the events of a user group',
    text:
      'The history of the user group with this id, including those of deleted groups with the same id, without their ' +
      'values. That of a renamed group continues with its events under the earlier id, and not with those of other groups ' +
      'that had the new one; a page follows at most 50 renames, and may have few events or none although more follow: ' +
      'continue with `next_cursor`. Like the list of events with `target=user_group:…`. Empty if there never was such a group.',
    responses: { 200: { description: 'A page of events.', schema: EventPage, examples: pageExamples } },
  },
});
