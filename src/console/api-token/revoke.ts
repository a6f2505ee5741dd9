import type { ApiToken } from '../../domain/api-token.ts';
import { revokeApiToken } from '../../operations/api-token/api-token.ts';
import { formPages } from '../form/form-pages.ts';
import { html, isolated, lastUse, pathTo } from '../markup/html.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { API_TOKENS, activeApiTokens, apiTokenIn, apiTokenName, isOfSession } from './show.ts';

/** Revoking it again changes nothing. */
export const apiTokenRevocation = formPages({
  path: '/api-tokens/:api_token_id/revoke',
  permissions: ADMINS,
  purpose: 'revoke API tokens',
  act: async (call) => {
    const { apiTokenId } = await apiTokenIn(call);
    await revokeApiToken(call.context, call.caller, apiTokenId);
    const notice = 'The API token was revoked: it is rejected from now on.';
    return { location: pathTo(API_TOKENS), notice };
  },
  view: async (call) => {
    const apiToken = await apiTokenIn(call);
    return {
      title: `Revoke API token ${isolated(apiTokenName(apiToken))}?`,
      text: html`${isOfSession(call, apiToken) ? OWN_TOKEN : ''}
${(await isLastAdmin(call, apiToken)) ? LAST_ADMIN : ''}
<p>Whatever uses it (${apiToken.permission}) is rejected from the next request on. This cannot be undone. Last used: ${lastUse(apiToken.lastUsedAt)}.</p>`,
      button: 'Revoke',
      isDangerous: true,
    };
  },
});

const OWN_TOKEN = html`<div class="problem" role="note"><p>You are signed in with this API token. Revoking it signs you out.</p></div>`;
const LAST_ADMIN = html`<div class="problem" role="note"><p>No other active API token of this environment has the permission admin. Only the command line can create one afterwards.</p></div>`;

/** Returns false if the API tokens do not fit on one page, because then it is unknown. */
async function isLastAdmin(call: PageCall, { apiTokenId }: ApiToken): Promise<boolean> {
  const { apiTokens, areAll } = await activeApiTokens(call);
  const others = apiTokens.filter((each) => each.apiTokenId !== apiTokenId);
  return areAll && !others.some(({ permission }) => permission === 'admin');
}
