import { listEvents } from '../../../operations/event/list.ts';
import { endpoint } from '../../endpoint.ts';
import { queryType } from '../../request/query.ts';
import {
  EventPage,
  eventPage,
  eventParameters,
  eventQuery,
  pageExamples,
  parseTarget,
  targetParameter,
  targetTypeParameter,
} from './representation.ts';

const query = queryType({
  parameters: { ...eventParameters, target: targetParameter, target_type: targetTypeParameter },
  convert: ({ target, target_type, ...values }) => ({
    ...eventQuery(values, target_type),
    ...(target !== undefined && { target: parseTarget(target) }),
  }),
});

export const list = endpoint({
  operationId: 'listEvents',
  method: 'GET',
  paths: ['/v1/events'],
  permissions: ['read-write', 'read-only'],
  purpose: 'list events',
  access: 'list',
  query,
  handle: async ({ context, caller, query }) => eventPage(await listEvents(context, caller, query)),
  description: {
    tag: 'Events',
    summary: 'List events',
    text:
      "The changes in the API token's workspace and environment: what changed, who changed it, and when. Never contains " +
      'a token or a secret.\n\nWith `order=oldest` it is a feed: request the next page with `next_cursor` after every ' +
      'page; if a page is empty, wait and request it again. A reader that does so gets every event exactly once. Events ' +
      'about one target are in the order of the changes.\n\nWith `type`, a page may have fewer events than `limit`, or ' +
      'none, although more follow: continue with `next_cursor`. So may a page with `actor`, `since`, `until`, `field`, ' +
      '`request_id` or `target_type`, which reads up to 10,000 events until it has one.',
    responses: { 200: { description: 'A page of events.', schema: EventPage, examples: pageExamples } },
  },
});
