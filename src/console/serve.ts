// The pipeline of every page: session, API token, permission, form, action; then the page, a redirect, or the problem as
// a page.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../domain/api-token.ts';
import { digestOfApiToken } from '../domain/token.ts';
import { type EndpointOptions, requestContext } from '../http/endpoint.ts';
import type { PublicLimit } from '../http/limits/public-limit.ts';
import { announcedBytes, discardBody, freeBytes, hasSmallBody, readBody } from '../http/request/body.ts';
import { compressedFor } from '../http/response/compressed.ts';
import { pageHeaders } from '../http/response/page-headers.ts';
import { httpStatus, toProblem } from '../http/response/problem.ts';
import { authenticate, Unauthenticated } from '../operations/api-token/authenticate.ts';
import type { EnvironmentFigures } from '../operations/figures/environment-figures.ts';
import { overloaded, permit } from '../operations/refusals.ts';
import { Problem } from '../problem.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import {
  hasToken,
  isFromThisSite,
  isSecure,
  mayWithholdSession,
  queryParameters,
  requestSession,
} from './browser.ts';
import { actionForm, hidden, submit } from './fields.ts';
import { storeNotice, takeNotice } from './flash.ts';
import { Form, MAX_FORM_BYTES } from './form.ts';
import { type Html, html, idInPath } from './html.ts';
import { KEPT_FORM, keptForm, MAX_KEPT_BYTES, openKeptForm } from './kept-form.ts';
import type { KnownFrames } from './known-frames.ts';
import { document, type PageAssets, type SignedIn } from './layout.ts';
import { accessOf, type Download, type Page, type PageCall, type Redirect, type View } from './page.ts';
import { expiredCookie, isFormFor, isMasked } from './session.ts';
import { API_TOKEN, signInView, signInWith } from './sign-in-form.ts';
import type { WorkspaceNames } from './workspace-names.ts';

const TOKEN_IN_ADDRESS = '/console/user-groups?token_in_search=1';

export interface ConsoleOptions extends Omit<EndpointOptions, 'prefetcher'> {
  publicLimit: PublicLimit | null;
  demoDirectory: string | null;
  figures: EnvironmentFigures;
  names: WorkspaceNames;
  frames: KnownFrames;
  assets: () => Promise<PageAssets>;
}

export function addPage(app: FastifyInstance, options: ConsoleOptions, page: Page): void {
  const config = { operationId: `console ${page.method} ${page.path}` };
  const handler = (request: FastifyRequest, reply: FastifyReply) =>
    tracked(options, async () => {
      const location = withoutSlash(request);
      if (location !== null) return redirect(reply, location);
      request.params = withIds(request.params as Record<string, string>);
      const query = queryParameters(request);
      if ([...query.values()].some(hasToken)) return redirect(reply, TOKEN_IN_ADDRESS);
      return serve({ options, page, query, request, reply });
    });
  app.route({ method: page.method, url: `/console${page.path}`, handler, config });
}

interface Exchange extends Pick<PageCall, 'query' | 'request' | 'reply'> {
  options: ConsoleOptions;
  page: Page;
  /** The form, once it is being received. */
  received?: Promise<Form>;
}

type Response = FastifyReply | string | Buffer;

/** If the service is not available, what was typed is kept on the page that says so. */
async function serve(exchange: Exchange): Promise<Response> {
  const { options, page, request, reply } = exchange;
  try {
    if (!options.context.store.admits(accessOf(page))) throw overloaded;
    const signedIn = await findSignedIn(options, request, reply);
    if (signedIn !== null) return await respond(exchange, signedIn);
  } catch (error) {
    if (page.retry !== undefined && isTransient(error)) await keepForm(exchange).catch(() => {});
    throw error;
  }
  options.publicLimit?.countPage(request.raw);
  const isKept = page.retry !== undefined && isFromThisSite(request);
  return isKept ? continueForm(exchange) : askToSignIn(request, reply);
}

function isTransient(error: unknown): boolean {
  const { code } = toProblem(error);
  return code === 'rate_limited' || httpStatus(toProblem(error)) === 503;
}

/** Without the database, which may be why the service is not available. */
async function keepForm(exchange: Exchange): Promise<void> {
  const { options, request } = exchange;
  const session = requestSession(options.context, request);
  if (session === null || !isFromThisSite(request)) return;
  exchange.received ??= receiveForm(options, request, UNKNOWN_TENANT, MAX_KEPT_BYTES);
  const form = await exchange.received;
  if (form.size > MAX_KEPT_BYTES) return;
  const kept = keptText(exchange, form);
  request.keptForm = html`<p>What you typed is kept, for an hour.</p>
${actionForm(session, request.url, html`${hidden(KEPT_FORM, kept)}${submit('Show the form again')}`)}`;
}

/** A form that has a kept one stands for it. */
function keptText({ options: { context }, request }: Exchange, form: Form): string {
  return form.text(KEPT_FORM) || keptForm(context.keyRing, request.url, form, context.clock());
}

async function respond(exchange: Exchange, signedIn: SignedIn): Promise<Response> {
  const { options, page, request } = exchange;
  admit(exchange, signedIn);
  if (request.method === 'POST')
    exchange.received = receiveForm(options, request, signedIn.caller.workspaceId);
  const form = (await exchange.received) ?? Form.empty;
  if (form.has(KEPT_FORM) && isFromThisSite(request)) {
    if (form.has(API_TOKEN)) return signInAgain(exchange, form);
    return showKept(exchange, signedIn, form, UNANSWERED);
  }
  const call = preparePageCall(exchange, signedIn, form);
  const isOwn = request.method === 'GET' || isMasked(call.session.csrfToken, form.text('csrf'));
  return sendResult(exchange, call, isOwn ? await perform(page, call) : await showAgain(page, call));
}

function admit({ options: { context, unread }, page }: Exchange, { caller }: SignedIn): void {
  context.activity.seen(caller.workspaceId);
  unread.admit(caller.workspaceId, accessOf(page));
  permit(caller, page.permissions, page.purpose);
}

async function sendResult(
  { options, page, request, reply }: Exchange,
  call: PageCall,
  result: View | Redirect | Download,
): Promise<Response> {
  if ('location' in result) return redirect(reply, storeNotice(call, result.location));
  if ('content' in result) return sendDownload(reply, result);
  const text = sendView(request, reply, await options.assets(), result);
  options.unread.count(call.caller.workspaceId, accessOf(page), reply.raw, text);
  // Secrets are only in responses to forms, which other sites cannot send, and the token of a form is masked.
  return compressedFor(reply, text);
}

function sendDownload(reply: FastifyReply, { fileName, contentType, content }: Download): FastifyReply {
  return reply
    .headers(pageHeaders)
    .headers({ 'content-type': contentType, 'content-disposition': `attachment; filename="${fileName}"` })
    .send(content);
}

/** A form without a session: asks to sign in, and keeps what was typed. */
async function continueForm(exchange: Exchange): Promise<Response> {
  const { options, request, reply } = exchange;
  const form = await receiveForm(options, request, UNKNOWN_TENANT, MAX_KEPT_BYTES);
  if (form.has(API_TOKEN)) return signInAgain(exchange, form);
  const view = signInAgainView(request, keptText(exchange, form));
  return sendView(request, reply, await options.assets(), { ...view, status: 401 });
}

/** Signs in, and shows the form that was kept; nothing is done before the person sends it again. */
async function signInAgain(exchange: Exchange, sent: Form): Promise<Response> {
  const { options, page, request, reply } = exchange;
  const check = (caller: Caller) => permit(caller, page.permissions, page.purpose);
  const result = await signInWith(options, { request, reply, form: sent, check });
  request.frame = null;
  if (result instanceof Problem) {
    const view = signInAgainView(request, sent.text(KEPT_FORM), result);
    return sendView(request, reply, await options.assets(), view);
  }
  return showKept(exchange, await withFrame(options, request, result), sent, NOT_DONE);
}

/** Shows the form that was kept in the one that was sent; `reason` says why it was not done. */
async function showKept(
  exchange: Exchange,
  signedIn: SignedIn,
  sent: Form,
  reason: Problem,
): Promise<Response> {
  const { options, page, request, reply } = exchange;
  const { keyRing, clock } = options.context;
  const form = openKeptForm(keyRing, request.url, sent.text(KEPT_FORM), clock());
  if (form === null) return redirect(reply, request.url);
  admit(exchange, signedIn);
  const call = preparePageCall(exchange, signedIn, form);
  return sendResult(exchange, call, { ...(await showAgain(page, call, reason)), status: 200 });
}

function signInAgainView(request: FastifyRequest, kept: string, problem?: Problem): View {
  const text = html`<p>Your session has ended, so nothing was done. What you typed is kept: sign in to see it again.</p>`;
  return signInView({ action: request.url, fields: { [KEPT_FORM]: kept }, text }, problem);
}

/** Shows a form of an earlier session with what was typed. Throws `origin_not_allowed` if it is of another workspace. */
async function showAgain(page: Page, call: PageCall, reason = NOT_DONE): Promise<View> {
  const { form, caller, request } = call;
  const isSafe = isFromThisSite(request) && isFormFor(form.text('csrf'), caller);
  if (page.retry === undefined || !isSafe) throw ANOTHER_SESSION;
  return { ...(await page.retry(call, reason)), status: 403 };
}

const ANOTHER_SESSION = new Problem(
  'origin_not_allowed',
  'Nothing was done, because this form is from another session. If you have switched to another workspace or environment, switch back in another tab, and reload this page to send the form again. Otherwise go back, reload the page, and try again.',
);
const NOT_DONE = new Problem(
  'origin_not_allowed',
  'You have signed in again since this form was opened, so nothing was done. Check it, and send it again.',
);
const UNANSWERED = new Problem(
  'overloaded',
  'The service was not available when you sent this form. Check it, and send it again.',
);

/** Takes linear time for an address that is full of slashes, which needs no session. */
const SLASH_AT_END = /^(\/console(?:\/+[^/?]+)*)\/+(\?.*)?$/;

/** The address without a slash at the end of its path; null if it has none. */
function withoutSlash({ method, url }: FastifyRequest): string | null {
  const [, path, query = ''] = SLASH_AT_END.exec(url) ?? [];
  return path === undefined || method !== 'GET' ? null : path + query;
}

/** The parameters of the path as ids, see `pathTo`. */
function withIds(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, part]) => [name, idInPath(part)]));
}

export async function tracked<Result>(
  { context, running }: ConsoleOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  running.begin();
  try {
    return await work();
  } catch (error) {
    throw context.cpu.asOverloaded(error);
  } finally {
    running.end();
  }
}

/** The handler, or the form again if it rejects what was typed. */
async function perform(page: Page, call: PageCall): Promise<View | Redirect | Download> {
  try {
    return await page.handle(call);
  } catch (error) {
    if (page.retry === undefined || !(error instanceof Problem) || httpStatus(error) >= 500) throw error;
    return { status: httpStatus(error), ...(await page.retry(call, error)) };
  }
}

/** Returns null without a session, or if its API token is no longer valid. Otherwise pages have their frame from now on. */
async function findSignedIn(
  options: ConsoleOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn | null> {
  const { context, limit, frames } = options;
  const session = requestSession(context, request);
  if (session === null) return null;
  try {
    const caller = await authenticate(context, digestOfApiToken(session.apiToken.reveal()));
    request.apiTokenId = caller.apiTokenId;
    limit?.(caller, reply);
    return await withFrame(options, request, { caller, session });
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error;
    frames.delete(session);
    reply.header('set-cookie', expiredCookie(isSecure(context, request)));
    return null;
  }
}

/** Pages of the request have the navigation of this person from now on. */
async function withFrame(
  { context, names, frames, assets }: ConsoleOptions,
  request: FastifyRequest,
  { caller, session }: Pick<SignedIn, 'caller' | 'session'>,
): Promise<SignedIn> {
  const signedIn = { caller, session, workspace: await names.of(context, caller) };
  frames.add(session, { ...signedIn, assets: await assets() });
  request.frame = frames.find(session, request);
  return signedIn;
}

function preparePageCall(
  { options, query, request, reply }: Exchange,
  { caller, session }: SignedIn,
  form: Form,
): PageCall {
  const bounded = requestContext(options.context, request, caller.workspaceId);
  const context = { ...bounded, origin: { via: 'console', requestId: request.id } as const };
  const { demoDirectory, figures } = options;
  const call = { context, caller, session, query, form, request, reply, demoDirectory, figures };
  takeNotice(call);
  return call;
}

/**
 * Throws `body_too_large`, and `overloaded` if too many large forms are being sent or wait for the CPU. A small one does
 * not count, as in requests of the API, so that forms of others do not prevent anyone from signing in.
 */
export async function receiveForm(
  { bodies, context }: ConsoleOptions,
  request: FastifyRequest,
  tenant: number,
  maxBytes = MAX_FORM_BYTES,
): Promise<Form> {
  const { raw } = request;
  if (hasSmallBody(raw)) return Form.read(raw, await readBody(raw));
  using reservation = bodies.open(tenant);
  try {
    reservation.grow(announcedBytes(raw, maxBytes));
    const bytes = await readBody(raw, reservation, maxBytes);
    await requestContext(context, request, tenant).cpu.turn(bytes.length);
    const form = Form.read(raw, bytes);
    freeBytes(bytes);
    return form;
  } catch (problem) {
    discardBody(raw);
    throw problem;
  }
}

/** The page in the frame of the request; without a session, in one without navigation. */
export function sendView(
  { url, frame }: FastifyRequest,
  reply: FastifyReply,
  assets: PageAssets,
  view: View,
): string {
  reply.code(view.status ?? 200).headers(pageHeaders);
  const page = frame?.(view) ?? document(assets, view, { path: url, breadcrumbs: [], signedIn: null });
  return page.markup;
}

/**
 * Before the response that nothing is at a path. A slash at its end is a mistake of a person, who is redirected; returns
 * whether that was it. For a person with a session, the response has the frame of other pages.
 */
export async function beforeNotFound(
  options: ConsoleOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  if (request.method !== 'GET') return false;
  const location = withoutSlash(request);
  if (location !== null) {
    redirect(reply, location);
    return true;
  }
  if (options.context.store.admits('read')) await findSignedIn(options, request, reply);
  return false;
}

export function redirect(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).headers(pageHeaders).header('location', location).send();
}

/**
 * A browser that follows a link from another site does not send its session, so the page reloads once: to the page to
 * sign in, which leads back if there is a session.
 */
function askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = `/console/sign-in?next=${encodeURIComponent(request.url)}`;
  // The live search would follow a redirect, and look for its results on the page to sign in.
  if (request.headers['hx-request'] === 'true')
    return reply.code(204).headers(pageHeaders).header('hx-redirect', path).send();
  if (request.method === 'GET' && mayWithholdSession(request))
    return reply.headers(pageHeaders).send(reloadPage(path).markup);
  return redirect(reply, path);
}

function reloadPage(path: string): Html {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${path}"><title>User Group Service</title></head>
<body><main><p><a href="${path}">Continue</a></p></main></body>
</html>
`;
}
