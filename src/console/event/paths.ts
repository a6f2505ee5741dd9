// Paths of filtered lists of events, and of what an event is about.

import { type Caller, isPermitted, type Permission } from '../../domain/api-token.ts';
import type { EventTarget, TargetType } from '../../domain/event/event.ts';
import { pathTo } from '../markup/html.ts';
import { pageUrl } from '../markup/pagination.ts';
import { ADMINS, READERS } from '../page.ts';

export function eventsAbout({ type, id }: EventTarget): string {
  return pageUrl(pathTo('events'), { target_type: type, target_id: id });
}

export function eventsBy(apiTokenId: number): string {
  return pageUrl(pathTo('events'), { actor: String(apiTokenId) });
}

/** Permissions to see the page about a target, and its path. */
const pages = {
  user_group: [READERS, (id) => ['user-groups', id]],
  schema: [READERS, (id) => ['catalogue', 'schemas', id]],
  data_source: [READERS, (id) => ['catalogue', 'data-sources', id]],
  integration: [ADMINS, (id) => ['integrations', id]],
  webhook_endpoint: [ADMINS, (id) => ['webhooks', id]],
  api_token: [ADMINS, (id) => ['api-tokens', id]],
  mapping_policy: [READERS, () => ['catalogue']],
  property_schema: [READERS, () => ['catalogue']],
  key_set: [ADMINS, () => ['integrations', '-', 'signing-keys']],
} as const satisfies Record<TargetType, readonly [readonly Permission[], (id: string) => readonly string[]]>;

/** Returns null unless there is a page that this person may see: a newer version may have stored another type. */
export function pathOfTarget(caller: Caller, { type, id }: EventTarget): string | null {
  if (!Object.hasOwn(pages, type)) return null;
  const [permissions, pathOf] = pages[type];
  return isPermitted(caller, permissions) ? pathTo(...pathOf(id)) : null;
}
