import { type ApiToken, apiTokenTextTag } from '../../domain/api-token.ts';
import { apiTokenGracePeriodSeconds } from '../../domain/field.ts';
import type { Secret } from '../../domain/secret.ts';
import { apiTokenRotationBody } from '../../http/endpoints/api-token/rotate.ts';
import { rotateApiToken } from '../../operations/api-token/api-token.ts';
import { isSecure } from '../browser.ts';
import { choiceField } from '../fields.ts';
import { numberMember, readForm } from '../form.ts';
import { formPages } from '../form-pages.ts';
import { type Html, html, isolated, lastUse, pathTo } from '../html.ts';
import { ADMINS, type PageCall } from '../page.ts';
import { sessionCookie } from '../session.ts';
import { confirmationProblem, keptVersionField, versionIn } from '../version.ts';
import { API_TOKENS, apiTokenIn, apiTokenName, isOfSession, issuedTokenView } from './show.ts';

export const apiTokenRotation = formPages({
  path: '/api-tokens/:api_token_id/rotate',
  permissions: ADMINS,
  purpose: 'rotate API tokens',
  initial: () => ({ grace_period_seconds: HOUR }),
  act: async (call) => {
    const { context, caller, form } = call;
    const { grace_period_seconds: seconds = apiTokenGracePeriodSeconds.default } = await readForm(
      context,
      form,
      apiTokenRotationBody,
      () => ({ grace_period_seconds: numberMember(form, 'grace_period_seconds') }),
    );
    const { apiTokenId } = await apiTokenIn(call);
    const issued = await rotateApiToken(context, caller, apiTokenId, seconds, versionIn(form));
    if (!isOfSession(call, issued.apiToken)) return issuedTokenView(issued, 'Rotated.');
    continueSession(call, issued.token);
    return issuedTokenView(issued, 'Rotated.', html`<p>You stay signed in, with the new text.</p>`);
  },
  view: async (call, form, problem) => {
    const apiToken = await apiTokenIn(call);
    return {
      title: `Rotate API token ${isolated(apiTokenName(apiToken))}?`,
      text: html`${confirmationProblem('API token', problem, { grace_period_seconds: LABEL })}
${effect(call, apiToken)}`,
      fields: html`${keptVersionField(apiTokenTextTag(apiToken), form, problem)}
${choiceField({
  ...form.field('grace_period_seconds'),
  label: LABEL,
  choices: gracePeriods,
})}`,
      button: 'Rotate',
      isDangerous: true,
      back: pathTo(API_TOKENS, apiToken.apiTokenId),
    };
  },
});

const LABEL = 'How long the current text stays valid';
const HOUR = '3600';
const gracePeriods = [
  ['0', 'none: the current text is rejected immediately'],
  [HOUR, 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', '30 days'],
] as const;

/** Puts the new text into the session, which would end with the replaced one. */
function continueSession({ context, session, request, reply }: PageCall, apiToken: Secret): void {
  const { keyRing } = context;
  const cookie = sessionCookie(keyRing, { ...session, apiToken }, isSecure(context, request));
  reply.header('set-cookie', cookie);
}

function effect(call: PageCall, apiToken: ApiToken): Html {
  return html`<p>It gets a new text; its number, permission and expiry do not change. Whatever uses the current text is rejected once the time below has passed, and a text that an earlier rotation replaced is rejected now. Last used: ${lastUse(apiToken.lastUsedAt)}.</p>
${isOfSession(call, apiToken) ? html`<p>You are signed in with this API token, and stay signed in with the new text. Other sessions with it end.</p>` : ''}`;
}
