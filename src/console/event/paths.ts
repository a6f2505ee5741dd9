// Paths of filtered lists of events, and of what an event is about.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import type { EventTarget } from '../../domain/event/event.ts';
import { pathTo } from '../markup/html.ts';
import { ADMINS } from '../page.ts';

export function eventsAbout({ type, id }: EventTarget): string {
  return `${pathTo('events')}?${new URLSearchParams({ target_type: type, target_id: id })}`;
}

export function eventsBy(apiTokenId: number): string {
  return `${pathTo('events')}?actor=${apiTokenId}`;
}

/** Returns null unless there is a page that this person may see. */
export function pathOfTarget(caller: Caller, { type, id }: EventTarget): string | null {
  const forAdmin = (path: string) => (isPermitted(caller, ADMINS) ? path : null);
  switch (type) {
    case 'user_group':
      return pathTo('user-groups', id);
    case 'schema':
      return pathTo('catalogue', 'schemas', id);
    case 'data_source':
      return pathTo('catalogue', 'data-sources', id);
    case 'integration':
      return forAdmin(pathTo('integrations', id));
    case 'webhook_endpoint':
      return forAdmin(pathTo('webhooks', id));
    case 'api_token':
      return forAdmin(pathTo('api-tokens', id));
    case 'mapping_policy':
    case 'property_schema':
      return pathTo('catalogue');
    case 'key_set':
      return forAdmin(pathTo('integrations', '-', 'signing-keys'));
    default:
      return type satisfies never;
  }
}
