import {
  type ApiToken,
  type ApiTokenStatus,
  apiTokenStatus,
  previousTextUntil,
} from '../../domain/api-token.ts';
import { actorLabel } from '../../domain/event/filter.ts';
import { limits } from '../../domain/field.ts';
import { DAY_MS } from '../../domain/instant.ts';
import { apiTokenIdParameter } from '../../http/request/path-parameter.ts';
import {
  type IssuedApiToken,
  listNewestApiTokens,
  readApiToken,
} from '../../operations/api-token/api-token.ts';
import { listEvents } from '../../operations/event/list.ts';
import { eventsAbout, eventsBy } from '../event/paths.ts';
import {
  badge,
  breakable,
  buttonTo,
  definitions,
  type Html,
  html,
  idLink,
  isolated,
  lastUse,
  link,
  NO_HTML,
  pathTo,
  time,
} from '../markup/html.ts';
import { issuedView } from '../markup/shown-once.ts';
import { ADMINS, type Page, type PageCall, unlessBusy, type View } from '../page.ts';

export const API_TOKENS = 'api-tokens';

export const showApiToken: Page = {
  method: 'GET',
  path: '/api-tokens/:api_token_id',
  permissions: ADMINS,
  purpose: 'read API tokens',
  handle: async (call) => {
    const apiToken = await apiTokenIn(call);
    const now = call.context.clock();
    const until = previousTextUntil(apiToken, now);
    return {
      title: `API token ${apiTokenName(apiToken)}`,
      actions: apiTokenStatus(apiToken, now) === 'active' ? actions(apiToken) : NO_HTML,
      main: html`${definitions([
        ['Number', apiToken.apiTokenId],
        ['Permission', apiToken.permission],
        ['Environment', apiToken.environment],
        ['Status', statusBadge(call, apiToken)],
        ['Last used', lastUse(apiToken.lastUsedAt)],
        ['Created', html`${time(apiToken.createdAt)} by ${await creatorText(call, apiToken)}`],
        ['Expires', expiryText(call, apiToken)],
        ...(apiToken.revokedAt === null ? [] : [['Revoked', time(apiToken.revokedAt)] as const]),
        ...(until === null ? [] : [['Replaced text valid until', time(until)] as const]),
      ])}
<p>${link(eventsAbout({ type: 'api_token', id: String(apiToken.apiTokenId) }), 'Events of this API token')}</p>
<p>${link(eventsBy(apiToken.apiTokenId), 'Events by this API token')}</p>`,
    };
  },
};

export function apiTokenIn({ context, caller, request }: PageCall): Promise<ApiToken> {
  return readApiToken(context, caller, apiTokenIdParameter(request));
}

export function apiTokenName({ name, apiTokenId }: ApiToken): string {
  return name ?? `number ${apiTokenId}`;
}

export function apiTokenLink(apiToken: ApiToken): Html {
  return idLink(pathTo(API_TOKENS, apiToken.apiTokenId), apiTokenName(apiToken));
}

export function isOfSession({ caller }: PageCall, { apiTokenId }: ApiToken): boolean {
  return caller.apiTokenId === apiTokenId;
}

const statusBadges: Readonly<Record<ApiTokenStatus, Html>> = {
  active: badge('good', 'active'),
  expired: badge('bad', 'expired'),
  revoked: badge('bad', 'revoked'),
};

export function statusBadge(call: PageCall, apiToken: ApiToken): Html {
  const status = statusBadges[apiTokenStatus(apiToken, call.context.clock())];
  return isOfSession(call, apiToken) ? html`${status} ${badge('neutral', 'of this session')}` : status;
}

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

/** Returns the newest active API tokens, and whether these are all: the service reads one page. */
export async function activeApiTokens({
  context,
  caller,
}: PageCall): Promise<{ apiTokens: ApiToken[]; areAll: boolean }> {
  const page = { limit: limits.pageEntries, isRevoked: false };
  const { apiTokens, nextCursor } = await listNewestApiTokens(context, caller, page);
  const now = context.clock();
  const active = apiTokens.filter((apiToken) => apiTokenStatus(apiToken, now) === 'active');
  return { apiTokens: active, areAll: nextCursor === null };
}

/** How long before its expiry an API token is reported: long enough to replace it where it is used. */
const WARNING_MS = 14 * DAY_MS;

export function expiresSoon(apiToken: ApiToken, now: number): boolean {
  const { expiresAt } = apiToken;
  return expiresAt !== null && expiresAt < now + WARNING_MS && apiTokenStatus(apiToken, now) === 'active';
}

/** Returns the expiry, with a warning in the last two weeks. */
export function expiryText({ context }: PageCall, apiToken: ApiToken): Html {
  const { expiresAt } = apiToken;
  const now = context.clock();
  if (!expiresSoon(apiToken, now)) return time(expiresAt);
  const days = Math.ceil((expiresAt! - now) / DAY_MS);
  return html`${time(expiresAt)} ${badge('bad', days === 1 ? 'in a day' : `in ${days} days`)}`;
}

function actions({ apiTokenId }: ApiToken): Html {
  return html`${buttonTo(pathTo(API_TOKENS, apiTokenId, 'rotate'), 'Rotate', 'primary')}
${buttonTo(pathTo(API_TOKENS, apiTokenId, 'revoke'), 'Revoke', 'danger')}`;
}

/** Returns the page that shows the text of an API token, in the response to the action that issued it. */
export function issuedTokenView({ apiToken, token }: IssuedApiToken, done: string, more?: Html): View {
  return issuedView(`API token ${apiTokenName(apiToken)}`, done, {
    label: 'Text of the API token',
    secret: token,
    next: pathTo(API_TOKENS, apiToken.apiTokenId),
    ...(more && { more }),
  });
}
