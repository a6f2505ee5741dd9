import type { ApiToken } from '../../domain/api-token.ts';
import { statusOf } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import { listApiTokens, revokeApiToken as revoke } from '../../operations/api-token/api-token.ts';
import { actionForm, cancel, submit } from '../fields.ts';
import { html, pathTo, time } from '../html.ts';
import { withNotice } from '../notice.ts';
import { ADMINS, type Page, type PageCall } from '../page.ts';
import { API_TOKENS, apiTokenIn, isOfSession, nameOf } from './show.ts';

const shared = {
  path: '/api-tokens/:api_token_id/revoke',
  permissions: ADMINS,
  purpose: 'revoke API tokens',
} as const;

export const confirmApiTokenRevocation: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: async (call) => {
    const apiToken = await apiTokenIn(call);
    const title = `Revoke API token ${nameOf(apiToken)}?`;
    const path = pathTo(API_TOKENS, apiToken.apiTokenId);
    return {
      title,
      main: html`<h1>${title}</h1>
${isOfSession(call, apiToken) ? OF_SESSION : ''}
${(await isLastAdmin(call, apiToken)) ? LAST_ADMIN : ''}
<p>Whatever uses it (${apiToken.permission}) is rejected from the next request on. This cannot be undone. Last used: ${time(apiToken.lastUsedAt)}.</p>
${actionForm(
  call.session,
  `${path}/revoke`,
  html`<div class="actions">${submit('Revoke', 'danger')} ${cancel(path)}</div>`,
)}`,
    };
  },
};

/** Revoking it again changes nothing. */
export const revokeApiToken: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async (call) => {
    const { apiTokenId } = await apiTokenIn(call);
    await revoke(call.context, call.caller, apiTokenId);
    return { location: withNotice(pathTo(API_TOKENS), 'revoked') };
  },
};

const OF_SESSION = html`<div class="problem" role="note"><p>You are signed in with this API token. Revoking it signs you out.</p></div>`;
const LAST_ADMIN = html`<div class="problem" role="note"><p>No other active API token of this environment has the permission admin. Only the command line can create one afterwards.</p></div>`;

/** Not known if there are more API tokens than fit on a page. */
async function isLastAdmin({ context, caller }: PageCall, { apiTokenId }: ApiToken): Promise<boolean> {
  const page = { limit: limits.pageApiTokens };
  const { apiTokens, nextCursor } = await listApiTokens(context, caller, page);
  const now = context.clock();
  const others = apiTokens.filter((each) => each.apiTokenId !== apiTokenId);
  const isOtherAdmin = (each: ApiToken) => each.permission === 'admin' && statusOf(each, now) === 'active';
  return nextCursor === null && !others.some(isOtherAdmin);
}
