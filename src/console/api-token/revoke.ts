import { type ApiToken, apiTokenStatus } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import { listNewestApiTokens, revokeApiToken } from '../../operations/api-token/api-token.ts';
import { formPages } from '../form/form-pages.ts';
import { html, isolated, lastUse, NO_HTML, pathTo } from '../markup/html.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { API_TOKENS, apiTokenIn, apiTokenName, isOfSession } from './show.ts';

/** Revoking it again changes nothing. */
export const apiTokenRevocation = formPages({
  path: '/api-tokens/:api_token_id/revoke',
  permissions: ADMINS,
  purpose: 'revoke API tokens',
  act: async (call) => {
    const { apiTokenId } = await apiTokenIn(call);
    await revokeApiToken(call.context, call.caller, apiTokenId);
    return { location: pathTo(API_TOKENS), notice: 'revoked' };
  },
  view: async (call) => {
    const apiToken = await apiTokenIn(call);
    return {
      title: `Revoke API token ${isolated(apiTokenName(apiToken))}?`,
      text: html`${isOfSession(call, apiToken) ? OWN_TOKEN : ''}
${(await isLastAdmin(call, apiToken)) ? LAST_ADMIN : ''}
<p>Whatever uses it (${apiToken.permission}) is rejected from the next request on. This cannot be undone. Last used: ${lastUse(apiToken.lastUsedAt)}.</p>`,
      fields: NO_HTML,
      button: 'Revoke',
      isDangerous: true,
      back: pathTo(API_TOKENS, apiToken.apiTokenId),
    };
  },
});

const OWN_TOKEN = html`<div class="problem" role="note"><p>You are signed in with this API token. Revoking it signs you out.</p></div>`;
const LAST_ADMIN = html`<div class="problem" role="note"><p>No other active API token of this environment has the permission admin. Only the command line can create one afterwards.</p></div>`;

/** Returns false if the API tokens do not fit on one page, because then it is unknown. */
async function isLastAdmin({ context, caller }: PageCall, { apiTokenId }: ApiToken): Promise<boolean> {
  const page = { limit: limits.pageApiTokens, isRevoked: false };
  const { apiTokens, nextCursor } = await listNewestApiTokens(context, caller, page);
  const now = context.clock();
  const others = apiTokens.filter((each) => each.apiTokenId !== apiTokenId);
  const isOtherAdmin = (each: ApiToken) =>
    each.permission === 'admin' && apiTokenStatus(each, now) === 'active';
  return nextCursor === null && !others.some(isOtherAdmin);
}
