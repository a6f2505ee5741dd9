// The page that shows the text of an API token, in the response to the action that issued it.

import type { IssuedApiToken } from '../../operations/api-token/api-token.ts';
import { html, NO_HTML, pathTo } from '../html.ts';
import type { View } from '../page.ts';
import { shownOnce } from '../shown-once.ts';
import { API_TOKENS, nameOf } from './show.ts';

/** `more` is HTML. */
export function issuedView({ apiToken, token }: IssuedApiToken, done: string, more = NO_HTML): View {
  const title = `API token ${nameOf(apiToken)}`;
  return {
    title,
    main: html`<h1>${title}</h1>
<div class="notice" role="status"><p>${done} Store its text where it is used: it is not shown again.</p></div>
${shownOnce('Text of the API token', token)}
${more}
<p class="actions"><a class="button" href="${pathTo(API_TOKENS, apiToken.apiTokenId)}">Continue</a></p>`,
  };
}
