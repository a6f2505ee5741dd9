import { type ApiToken, textTagOf } from '../../domain/api-token.ts';
import { apiTokenGracePeriodSeconds } from '../../domain/field.ts';
import type { Secret } from '../../domain/secret.ts';
import { apiTokenRotationBody } from '../../http/endpoints/api-token/rotate.ts';
import { rotateApiToken as rotate } from '../../operations/api-token/api-token.ts';
import type { Problem } from '../../problem.ts';
import { confirmationProblem, isConflict } from '../document-version.ts';
import { actionForm, cancel, choiceField, hidden, submit } from '../fields.ts';
import { Form } from '../form.ts';
import { numberMember, readForm } from '../form-body.ts';
import { type Html, html, pathTo, time } from '../html.ts';
import { ADMINS, type Page, type PageCall, type View } from '../page.ts';
import { isSecure } from '../serve.ts';
import { sessionCookie } from '../session.ts';
import { issuedView } from './issued.ts';
import { API_TOKENS, apiTokenIn, isOfSession, nameOf } from './show.ts';

const shared = {
  path: '/api-tokens/:api_token_id/rotate',
  permissions: ADMINS,
  purpose: 'rotate API tokens',
} as const;

export const confirmApiTokenRotation: Page = {
  ...shared,
  method: 'GET',
  access: 'read',
  handle: (call) => rotationView(call, Form.of({ grace_period_seconds: HOUR })),
};

export const rotateApiToken: Page = {
  ...shared,
  method: 'POST',
  access: 'write',
  handle: async (call) => {
    const { context, caller, form } = call;
    const { grace_period_seconds: seconds = apiTokenGracePeriodSeconds.default } = await readForm(
      context,
      form,
      apiTokenRotationBody,
      () => ({ grace_period_seconds: numberMember(form, 'grace_period_seconds') }),
    );
    const { apiTokenId } = await apiTokenIn(call);
    const issued = await rotate(context, caller, apiTokenId, seconds, form.text('version'));
    if (!isOfSession(call, issued.apiToken)) return issuedView(issued, 'Rotated.');
    continueSession(call, issued.token);
    return issuedView(issued, 'Rotated.', html`<p>You stay signed in, with the new text.</p>`);
  },
  retry: (call, problem) => rotationView(call, call.form, problem),
};

const HOUR = '3600';
const gracePeriods = [
  ['0', 'none: the present text is rejected immediately'],
  [HOUR, 'an hour'],
  ['86400', 'a day'],
  ['604800', 'a week'],
  ['2592000', '30 days'],
] as const;

/** Otherwise this session would end with the text that it has. */
function continueSession({ context, session, request, reply }: PageCall, apiToken: Secret): void {
  const { keyRing, clock } = context;
  const cookie = sessionCookie(keyRing, { ...session, apiToken }, clock(), isSecure(context, request));
  reply.header('set-cookie', cookie);
}

async function rotationView(call: PageCall, form: Form, problem?: Problem): Promise<View> {
  const apiToken = await apiTokenIn(call);
  const title = `Rotate API token ${nameOf(apiToken)}?`;
  const path = pathTo(API_TOKENS, apiToken.apiTokenId);
  const isFresh = problem === undefined || isConflict(problem);
  const content = html`${hidden('version', isFresh ? textTagOf(apiToken) : form.text('version'))}
${choiceField({
  name: 'grace_period_seconds',
  label: 'How long the present text stays valid',
  value: form.text('grace_period_seconds'),
  choices: gracePeriods,
  problem,
})}
<div class="actions">${submit('Rotate', 'danger')} ${cancel(path)}</div>`;
  return {
    title,
    main: html`<h1>${title}</h1>
${confirmationProblem('API token', problem)}
${effect(call, apiToken)}
${actionForm(call.session, `${path}/rotate`, content)}`,
  };
}

function effect(call: PageCall, apiToken: ApiToken): Html {
  return html`<p>It gets a new text; its number, permission and expiry stay. Whatever uses the present text is rejected once the time below has passed, and a text that an earlier rotation replaced is rejected now. Last used: ${time(apiToken.lastUsedAt)}.</p>
${isOfSession(call, apiToken) ? html`<p>You are signed in with this API token, and stay signed in with the new text. Other sessions with it end.</p>` : ''}`;
}
