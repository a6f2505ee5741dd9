import type { ApiToken } from '../../domain/api-token.ts';
import { listNewestApiTokens } from '../../operations/api-token/api-token.ts';
import { newPath } from '../document-pages.ts';
import { buttonTo, type Html, html, link, NO_HTML, pathTo, table, time } from '../markup/html.ts';
import { nextPage, pageQuery, pageUrl } from '../markup/pagination.ts';
import { ADMINS, type Page, type PageCall } from '../page.ts';
import { FIND_PATH } from '../user-group/find.ts';
import { API_TOKENS, apiTokenLink, creatorText, expiryText, statusBadge } from './show.ts';

const REVOKED = 'revoked';

export const listOfApiTokens: Page = {
  method: 'GET',
  path: '/api-tokens',
  permissions: ADMINS,
  purpose: 'list API tokens',
  access: 'list',
  handle: async (call) => {
    const { context, caller, query } = call;
    const isRevoked = query.get(REVOKED) === 'yes';
    const search = { ...pageQuery(query), isRevoked };
    const { apiTokens, nextCursor } = await listNewestApiTokens(context, caller, search);
    const other = isRevoked
      ? link(pathTo(API_TOKENS), 'API tokens that are not revoked')
      : link(pageUrl(pathTo(API_TOKENS), { [REVOKED]: 'yes' }), 'Revoked API tokens');
    return {
      title: isRevoked ? 'Revoked API tokens' : 'API tokens',
      actions: isRevoked ? NO_HTML : ACTIONS,
      main: html`<p class="hint">API tokens of this workspace for the environment ${caller.environment}, the newest first. The last use is recorded to the hour. ${other}</p>
${await apiTokenTable(call, apiTokens, isRevoked)}
${nextPage(pathTo(API_TOKENS), nextCursor, Object.fromEntries(query))}`,
    };
  },
};

const ACTIONS = html`${buttonTo(newPath([API_TOKENS]), 'New API token', 'primary')} ${buttonTo(FIND_PATH, 'Find by token')}`;

async function apiTokenTable(
  call: PageCall,
  apiTokens: readonly ApiToken[],
  isRevoked: boolean,
): Promise<Html> {
  const rows = apiTokens.map(async (apiToken) => [
    apiTokenLink(apiToken),
    apiToken.apiTokenId,
    apiToken.permission,
    statusBadge(call, apiToken),
    await creatorText(call, apiToken),
    time(apiToken.lastUsedAt),
    expiryText(call, apiToken),
  ]);
  const columns = ['Name', 'Number', 'Permission', 'Status', 'Created by', 'Last used', 'Expires'];
  const ifEmpty = isRevoked ? 'No API token has been revoked.' : 'No API tokens.';
  return table('API tokens', columns, await Promise.all(rows), ifEmpty);
}
