import type { IssuedApiToken } from '../../operations/api-token/api-token.ts';
import { type Html, pathTo } from '../html.ts';
import type { View } from '../page.ts';
import { issuedView } from '../shown-once.ts';
import { API_TOKENS, apiTokenName } from './show.ts';

/** The page that shows the text of an API token, in the response to the action that issued it. */
export function issuedTokenView({ apiToken, token }: IssuedApiToken, done: string, more?: Html): View {
  return issuedView(`API token ${apiTokenName(apiToken)}`, done, {
    label: 'Text of the API token',
    secret: token,
    next: pathTo(API_TOKENS, apiToken.apiTokenId),
    ...(more && { more }),
  });
}
