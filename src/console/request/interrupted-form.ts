// Forms that were interrupted: the session had ended, the service was unavailable, or the form is from another session.
// The form is kept and shown again with what was typed. Nothing is done until the person submits it again. A kept form
// travels encrypted within another form, which asks to sign in or just to show it again.

import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../domain/api-token.ts';
import { requestContext } from '../../http/endpoint.ts';
import { GRACE_MS } from '../../operations/machinery/cpu-queue.ts';
import { permit } from '../../operations/refusals.ts';
import { Problem } from '../../problem.ts';
import { UNKNOWN_TENANT } from '../../scheduling/fair-queue.ts';
import { actionForm, hidden, submit } from '../form/fields.ts';
import { Form, MAX_FORM_BYTES, MAX_FORM_CHARACTERS } from '../form/form.ts';
import { html } from '../markup/html.ts';
import { missingObjectView } from '../missing.ts';
import type { Page, PageCall, View } from '../page.ts';
import { Sealed } from '../session/sealed.ts';
import { isFormFor, requestSession, type SignedIn } from '../session/session.ts';
import { API_TOKEN, signInView, signInWith } from '../session/sign-in-form.ts';
import { isFromThisSite } from './browser.ts';
import { admit, type Exchange, preparePageCall, type Response, receiveForm, sendResult } from './exchange.ts';
import { sendView } from './response.ts';

export const KEPT_FORM = 'kept_form';
/** Limited, because anyone may send a form without a session. */
const MAX_KEPT_BYTES = MAX_FORM_BYTES / 2;
/** Maximum for a form that is kept; text of a person becomes half as long again by encryption. */
export const MAX_KEPT_CHARACTERS = Math.floor(MAX_FORM_CHARACTERS / 2);
/** Leaves room for the other fields of the form that carries it. */
const MAX_SEALED_CHARACTERS = MAX_FORM_CHARACTERS - 4_096;
const MAX_AGE_MS = 3_600_000;
/** Characters of a form that take as long as a small page, and characters that take as long as a field. */
const PAGE_CHARACTERS = 16_384;
const FIELD_CHARACTERS = 128;
const sealed = new Sealed<[url: string, at: number, entries: Form['entries']]>('console-form');

/** Does not use the database, which may be what is unavailable. */
export async function keepForm(exchange: Exchange): Promise<void> {
  const { options, request } = exchange;
  const session = requestSession(options.context, request);
  if (session === null || !isFromThisSite(request)) return;
  exchange.received ??= receiveForm(options, request, UNKNOWN_TENANT, MAX_KEPT_BYTES);
  const form = await exchange.received;
  const kept = keptText(exchange, form);
  request.keptForm = html`<p>What you typed is kept, for an hour.</p>
${actionForm(session, request.url, html`${hidden(KEPT_FORM, kept)}${submit('Show the form again')}`)}`;
}

/** A form that carries a kept form is replaced by it. Throws `body_too_large`. */
function keptText({ options: { context }, request }: Exchange, form: Form): string {
  if (form.has(KEPT_FORM)) return form.text(KEPT_FORM);
  if (form.size <= MAX_KEPT_CHARACTERS) {
    const text = sealed.textOf(context.keyRing, [request.url, context.clock(), form.entries]);
    if (text.length <= MAX_SEALED_CHARACTERS) return text;
  }
  throw new Problem('body_too_large', 'Your session has ended, and the form is too large to be kept.');
}

/** Returns null unless the form was kept for this address within the last hour. */
function openKept({ options: { context }, request }: Exchange, text: string): Form | null {
  const opened = sealed.open(context.keyRing, text);
  if (opened === null) return null;
  const [url, keptAt, entries] = opened;
  return url === request.url && context.clock() - keptAt < MAX_AGE_MS ? new Form(entries) : null;
}

/** Returns the number of small pages that take as long as the form, beside the one that is counted already. */
function costInPages({ size, entries }: Form): number {
  return Math.floor((size + entries.length * FIELD_CHARACTERS) / PAGE_CHARACTERS);
}

/** Asks a person without a session to sign in, and keeps what was typed. */
export async function continueForm(exchange: Exchange): Promise<Response> {
  const { options, request, reply } = exchange;
  exchange.received ??= receiveForm(options, request, UNKNOWN_TENANT, MAX_KEPT_BYTES);
  const form = await exchange.received;
  exchange.startedAt = performance.now();
  options.publicLimit?.countPage(request.raw, costInPages(form));
  if (form.has(API_TOKEN)) return signInAgain(exchange, form);
  // A large form is not read and encrypted in one turn of the event loop.
  await requestContext(options.context, request).cpu.turn(form.size, GRACE_MS);
  return sendView(request, reply, await options.assets(), signInAgainView(request, keptText(exchange, form)));
}

/** Shows the kept form that this form carries, after signing in if it is the sign-in form. */
export function resumeForm(exchange: Exchange, signedIn: SignedIn, form: Form): Promise<Response> {
  if (form.has(API_TOKEN)) return signInAgain(exchange, form);
  return showKept(exchange, signedIn, form, UNANSWERED);
}

async function signInAgain(exchange: Exchange, sent: Form): Promise<Response> {
  const { options, page, request, reply } = exchange;
  const check = (caller: Caller) => {
    permit(caller, page.permissions, page.purpose);
    // Otherwise the person would be signed in elsewhere, on a page without the form.
    const form = openKept(exchange, sent.text(KEPT_FORM));
    if (form !== null && !isFormFor(form.text('csrf'), caller)) throw ELSEWHERE;
  };
  const { context, publicLimit, frames } = options;
  const result = await signInWith({ context, request, reply }, sent, publicLimit, check);
  request.frame = null;
  if (result instanceof Problem) {
    const view = signInAgainView(request, sent.text(KEPT_FORM), result);
    return sendView(request, reply, await options.assets(), view);
  }
  await frames.add(context, request, result);
  return showKept(exchange, result, sent, NOT_DONE);
}

/** Shows the kept form that `sent` carries. `reason` tells the person why nothing was done. */
async function showKept(
  exchange: Exchange,
  signedIn: SignedIn,
  sent: Form,
  reason: Problem,
): Promise<Response> {
  const form = openKept(exchange, sent.text(KEPT_FORM));
  if (form === null) throw EXPIRED;
  admit(exchange, signedIn);
  const call = preparePageCall(exchange, signedIn, form);
  return sendResult(exchange, call, { ...(await showAgain(exchange.page, call, reason)), status: 200 });
}

function signInAgainView(request: FastifyRequest, kept: string, problem = ENDED): View {
  const text = html`<p>What you typed is kept for an hour: sign in to see it again.</p>`;
  return signInView({ action: request.url, fields: { [KEPT_FORM]: kept }, text }, problem);
}

/** Shows a form of an earlier session with what was typed. Throws `origin_not_allowed` if it is from another workspace. */
export async function showAgain(page: Page, call: PageCall, reason = NOT_DONE): Promise<View> {
  const { form, caller, request } = call;
  const isSafe = isFromThisSite(request) && isFormFor(form.text('csrf'), caller);
  if (page.onRejection === undefined || !isSafe) throw ANOTHER_SESSION;
  const view = page.onRejection(call, reason).catch((error) => missingObjectView(call, error));
  return { ...(await view), status: 403 };
}

const ANOTHER_SESSION = new Problem(
  'origin_not_allowed',
  'Nothing was done, because this form is from another session. If you have switched to another workspace or environment, switch back in another tab, and reload this page to send the form again. Otherwise go back, reload the page, and try again.',
);
const ENDED = new Problem('unauthenticated', 'Your session has ended, so nothing was done.');
const ELSEWHERE = new Problem('permission_denied', ENDED.message, {
  errors: [{ pointer: `/${API_TOKEN}`, detail: 'is of another workspace or environment than the form' }],
});
const EXPIRED = new Problem(
  'origin_not_allowed',
  'What you typed has expired, and nothing was done. Open the form again.',
);
const NOT_DONE = new Problem(
  'origin_not_allowed',
  'You have signed in again since this form was opened, so nothing was done. Check it, and send it again.',
);
const UNANSWERED = new Problem(
  'overloaded',
  'This form was refused or not answered when you sent it. Check it, and send it again.',
);
