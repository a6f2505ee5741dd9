import type { ApiToken } from '../../domain/api-token.ts';
import type { Actor } from '../../domain/event/event.ts';
import { listEvents } from '../../operations/event/list.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { type Html, html } from '../html.ts';
import type { PageCall } from '../page.ts';

/** Who created the API token, by its first event, which is kept as long as all events. */
export async function creatorText({ context, caller }: PageCall, { apiTokenId }: ApiToken): Promise<Html> {
  const target = { type: 'api_token', id: String(apiTokenId) } as const;
  try {
    const { events } = await listEvents(context, caller, { order: 'oldest', limit: 1, target });
    const event = events[0] && (JSON.parse(events[0]) as { type: string; actor: Actor });
    if (event?.type !== 'api_token.created') return html`<span class="none">not recorded any more</span>`;
    const { type, name, id } = event.actor;
    return html`${type === 'api_token' ? (name ?? `API token ${id}`) : 'command line'}`;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return html`<span class="none">too busy to look it up</span>`;
  }
}
