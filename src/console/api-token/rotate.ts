import { type ApiToken, apiTokenTextTag } from '../../domain/api-token.ts';
import { invalidField } from '../../domain/request-body.ts';
import { apiTokenRotationBody } from '../../http/endpoints/api-token/rotate.ts';
import { rotateApiToken } from '../../operations/api-token/api-token.ts';
import { choiceField } from '../form/fields.ts';
import { readForm } from '../form/form.ts';
import { formPages } from '../form/form-pages.ts';
import { confirmation, versionIn } from '../form/version.ts';
import { type Html, html, isolated, lastUse } from '../markup/html.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { storeSession } from '../session/session.ts';
import { apiTokenIn, apiTokenName, isOfSession, issuedTokenView } from './show.ts';

export const apiTokenRotation = formPages({
  path: '/api-tokens/:api_token_id/rotate',
  permissions: ADMINS,
  purpose: 'rotate API tokens',
  act: async (call) => {
    const { context, caller, form } = call;
    if (form.text('grace_period_seconds') === '')
      throw invalidField('/grace_period_seconds', 'must be chosen: none if the current text may have leaked');
    const { grace_period_seconds: seconds } = await readForm(context, form, apiTokenRotationBody);
    const { apiTokenId } = await apiTokenIn(call);
    const issued = await rotateApiToken(context, caller, apiTokenId, seconds, versionIn(form));
    if (!isOfSession(call, issued.apiToken)) return issuedTokenView(issued, 'Rotated.');
    // With the replaced text, the session would end.
    storeSession(call, { ...call.session, apiToken: issued.token });
    return issuedTokenView(issued, 'Rotated.', html`<p>You stay signed in, with the new text.</p>`);
  },
  view: async (call, form) => {
    const apiToken = await apiTokenIn(call);
    return confirmation(form, 'API token', apiTokenTextTag(apiToken), {
      title: `Rotate API token ${isolated(apiTokenName(apiToken))}?`,
      labels: { grace_period_seconds: LABEL },
      text: effect(call, apiToken),
      fields: choiceField({ ...form.field('grace_period_seconds'), label: LABEL, choices: gracePeriods }),
      button: 'Rotate',
    });
  },
});

const LABEL = 'How long the current text stays valid';
const gracePeriods = [
  ['', 'choose'],
  ['0', 'none: the current text is rejected immediately'],
  ['3600', 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', '30 days'],
] as const;

function effect(call: PageCall, apiToken: ApiToken): Html {
  return html`<p>It gets a new text; its number, permission and expiry do not change. Whatever uses the current text is rejected once the time below has passed, and a text that an earlier rotation replaced is rejected now. Last used: ${lastUse(apiToken.lastUsedAt)}.</p>
${isOfSession(call, apiToken) ? html`<p>You are signed in with this API token, and stay signed in with the new text. Other sessions with it end when the current text is rejected.</p>` : ''}`;
}
