// The sign-in form, on its own page and in place of a form whose session has ended, and its action.

import { type Caller, isPermitted } from '../../domain/api-token.ts';
import { Secret } from '../../domain/secret.ts';
import { digestOfApiToken, findApiToken } from '../../domain/token.ts';
import type { PublicLimit } from '../../http/limits/public-limit.ts';
import { authenticate } from '../../operations/api-token/authenticate.ts';
import { Problem } from '../../problem.ts';
import { hidden, problemSummary, submit, textField } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import { type Html, html, NO_HTML } from '../markup/html.ts';
import { READERS, type View } from '../page.ts';
import type { CookieCall } from './cookie.ts';
import { newSession, requestSessions, type SignedIn, SLOTS, storeSession } from './session.ts';

export const API_TOKEN = 'api_token';

interface SignInForm {
  action: string;
  /** Hidden fields. */
  fields: Readonly<Record<string, string>>;
  /** Content above the form. */
  text?: Html;
}

export function signInView({ action, fields, text = NO_HTML }: SignInForm, problem?: Problem): View {
  const field = textField({
    name: API_TOKEN,
    type: 'password',
    size: 'large',
    hint: 'It starts with uga_ and has the permission admin, read-write or read-only.',
    isRequired: true,
    problem,
  });
  return {
    title: 'Sign in',
    heading: null,
    main: html`<div class="sign-in"><p class="product"><span class="mark"></span>User Group Service</p>
<h1>Sign in</h1>
${problemSummary(problem)}
${text}
<form method="post" action="${action}">
${Object.entries(fields).map(([name, value]) => hidden(name, value))}
${field}
${submit('Sign in')}
</form>
<details><summary>Where do I get one?</summary><p>An administrator creates one in this console, under “API tokens”. The first one comes from <code>user-group-service api-token create</code>; <code>npm start</code> stores it in <code>data/admin-token</code>.</p></details></div>`,
    ...(problem && { status: problem.code === 'unauthenticated' ? 401 : 403 }),
  };
}

/**
 * Begins a session with the API token in the form. With `another`, the active session stays in another slot.
 * Returns the reason if the API token is rejected, also by `check`. Throws `rate_limited` after too many
 * rejections.
 */
export async function signInWith(
  call: CookieCall,
  form: Form,
  publicLimit: PublicLimit | null,
  check = checkPerson,
): Promise<SignedIn | Problem> {
  const { context, request } = call;
  const apiToken = new Secret(findApiToken(form.text(API_TOKEN)) ?? '');
  try {
    const caller = await authenticate(context, digestOfApiToken(apiToken.reveal()));
    check(caller);
    request.apiTokenId = caller.apiTokenId;
    // New session id: prevents session fixation.
    const session = newSession(apiToken, caller, context.clock());
    if (form.has('another')) keepActive(call, apiToken);
    storeSession(call, session);
    return { caller, session };
  } catch (error) {
    if (!(error instanceof Problem) || !isRejection(error)) throw error;
    const refused = publicLimit?.refuse(request.raw, error) ?? error;
    if (refused !== error) throw refused;
    request.server.reportProblem(error, request);
    return error.code === 'unauthenticated' ? UNKNOWN : error;
  }
}

/** Moves the active session to the slot with the new API token, a free one, or that of the oldest session. */
function keepActive(call: CookieCall, apiToken: Secret): void {
  const sessions = requestSessions(call.context, call.request);
  const active = sessions.get(0);
  if (active === undefined || active.apiToken.reveal() === apiToken.reveal()) return;
  const age = (slot: number) => {
    const session = sessions.get(slot);
    return session === undefined || session.apiToken.reveal() === apiToken.reveal() ? 0 : session.createdAt;
  };
  const others = SLOTS.map((_, slot) => slot).slice(1);
  const slot = others.reduce((best, each) => (age(each) < age(best) ? each : best));
  storeSession(call, active, slot);
}

const UNKNOWN = new Problem('unauthenticated', 'You are not signed in.', {
  errors: [{ pointer: '/api_token', detail: 'is not valid: mistyped, expired or revoked' }],
});

function checkPerson(caller: Caller): void {
  if (isPermitted(caller, READERS)) return;
  const detail = `has the permission ${caller.permission}; the console requires read-only, read-write or admin`;
  throw new Problem('permission_denied', `This API token ${detail}.`, {
    errors: [{ pointer: '/api_token', detail }],
  });
}

function isRejection({ code }: Problem): boolean {
  return code === 'unauthenticated' || code === 'permission_denied';
}
