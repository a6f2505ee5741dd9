import type { ApiToken } from '../../domain/api-token.ts';
import { listApiTokens } from '../../operations/api-token/api-token.ts';
import { buttonTo, type Html, heading, html, link, pathTo, table, time } from '../html.ts';
import { notice } from '../notice.ts';
import { ADMINS, type Page, type PageCall } from '../page.ts';
import { nextPage, pageQuery } from '../pagination.ts';
import { API_TOKENS, apiTokenName, NEW_API_TOKEN_PATH, statusBadge } from './show.ts';

export const listOfApiTokens: Page = {
  method: 'GET',
  path: '/api-tokens',
  permissions: ADMINS,
  purpose: 'list API tokens',
  access: 'list',
  handle: async (call) => {
    const { context, caller, query } = call;
    const { apiTokens, nextCursor } = await listApiTokens(context, caller, pageQuery(query));
    return {
      title: 'API tokens',
      main: html`${heading('API tokens', buttonTo(NEW_API_TOKEN_PATH, 'New API token', 'primary'))}
${notice(query, { revoked: 'Revoked: it is rejected from now on.' })}
<p class="hint">Of this workspace, for the environment ${caller.environment}.</p>
${apiTokenTable(call, apiTokens)}
${nextPage(pathTo(API_TOKENS), nextCursor)}`,
    };
  },
};

function apiTokenTable(call: PageCall, apiTokens: readonly ApiToken[]): Html {
  return table(
    'API tokens',
    ['Name', 'Number', 'Permission', 'Status', 'Last used', 'Expires'],
    apiTokens.map((apiToken) => [
      link(pathTo(API_TOKENS, apiToken.apiTokenId), apiTokenName(apiToken)),
      apiToken.apiTokenId,
      apiToken.permission,
      statusBadge(call, apiToken),
      time(apiToken.lastUsedAt),
      time(apiToken.expiresAt),
    ]),
  );
}
