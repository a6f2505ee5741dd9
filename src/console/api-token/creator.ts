import type { ApiToken } from '../../domain/api-token.ts';
import { actorLabel } from '../../domain/event/filter.ts';
import { listEvents } from '../../operations/event/list.ts';
import { breakable, type Html, html, isolated } from '../markup/html.ts';
import { type PageCall, unlessBusy } from '../page.ts';

/** Returns the creator of the API token, from its first event, which is kept only as long as all events. */
export async function creatorText({ context, caller }: PageCall, { apiTokenId }: ApiToken): Promise<Html> {
  const target = { type: 'api_token', id: String(apiTokenId) } as const;
  const page = await unlessBusy(listEvents(context, caller, { order: 'oldest', limit: 1, target }));
  if (page === null) return html`<span class="none">too busy to look it up</span>`;
  const [event] = page.events;
  if (event?.type !== 'api_token.created') return html`<span class="none">no longer recorded</span>`;
  const { name } = event.actor;
  return breakable(actorLabel({ ...event.actor, name: name && isolated(name) }));
}
