// The pipeline of every page: session, API token, permission, form, action; then the page, a redirect, or the problem as
// a page.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { acceptCaller, isLateBody, ofTenant, requestContext } from '../../http/endpoint.ts';
import { httpStatus, isUnavailable, toProblem } from '../../http/response/problem.ts';
import { authenticate, Unauthenticated } from '../../operations/api-token/authenticate.ts';
import { CursorOfAnotherList } from '../../operations/list-cursor.ts';
import { GRACE_MS } from '../../operations/machinery/cpu-queue.ts';
import { overloaded } from '../../operations/refusals.ts';
import { Problem } from '../../problem.ts';
import { Form } from '../form/form.ts';
import { idInPath } from '../markup/html.ts';
import { missingObjectView, missingPageView } from '../missing.ts';
import { accessOf, type Download, type Page, type PageCall, type Redirect, type View } from '../page.ts';
import { digestOfSession, endSession, isMasked, requestSession, type SignedIn } from '../session/session.ts';
import { hasToken, isFromThisSite, queryParameters } from './browser.ts';
import {
  admit,
  type ConsoleOptions,
  type Exchange,
  preparePageCall,
  type Response,
  receiveForm,
  sendResult,
  tracked,
} from './exchange.ts';
import { guessTenant } from './guess-tenant.ts';
import { continueForm, KEPT_FORM, keepForm, resumeForm, showAgain } from './interrupted-form.ts';
import { askToSignIn, redirect } from './response.ts';

const TOKEN_IN_ADDRESS = '/console/user-groups?token_in_search=1';

export function addPage(app: FastifyInstance, options: ConsoleOptions, page: Page): void {
  const config = { operationId: `console ${page.method} ${page.path}` };
  const handler = (request: FastifyRequest, reply: FastifyReply) =>
    tracked(options, async () => {
      const location = withoutSlash(request);
      if (location !== null) return redirect(reply, location);
      request.params = withIds(request.params as Record<string, string>);
      const query = queryParameters(request);
      if ([...query.values()].some(hasToken)) return redirect(reply, TOKEN_IN_ADDRESS);
      return serve({ options, page, query, request, reply, startedAt: performance.now() });
    });
  app.route({ method: page.method, url: `/console${page.path}`, handler, config });
}

/** If the form may be accepted later, the error page keeps what was typed. */
async function serve(exchange: Exchange): Promise<Response> {
  const { options, page, request, reply } = exchange;
  try {
    if (!options.context.store.admits(accessOf(page), () => guessTenant(options, request))) throw overloaded;
    const signedIn = await findSignedIn(options, request, reply);
    const current = signedIn && (await receive(exchange, signedIn));
    if (current !== null) return await respond(exchange, current);
  } catch (error) {
    if (page.onRejection !== undefined && mayPassLater(error)) await keepForm(exchange).catch(() => {});
    throw error;
  }
  options.publicLimit?.countPage(request.raw);
  const isKept = page.onRejection !== undefined && isFromThisSite(request);
  return isKept ? continueForm(exchange) : askToSignIn(request, reply);
}

/** Whether the same form may be accepted later, also because the person has switched to another API token meanwhile. */
function mayPassLater(error: unknown): boolean {
  return isUnavailable(error) || ['rate_limited', 'permission_denied'].includes(toProblem(error).code);
}

/** Returns null without a session, or if its API token has become invalid. Otherwise sets the frame of the page. */
async function findSignedIn(
  options: ConsoleOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn | null> {
  const { context, limit, frames, prefetcher } = options;
  const session = requestSession(context, request);
  if (session === null) return null;
  const digest = digestOfSession(session);
  try {
    const guessed = requestContext(context, request, prefetcher.guessTenantOf(digest));
    const caller = await authenticate(guessed, digest);
    prefetcher.confirm(digest, caller);
    acceptCaller(caller, limit, request, reply);
    await frames.add(ofTenant(guessed, caller.workspaceId), request, { caller, session });
    return { caller, session };
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error;
    prefetcher.forget(digest);
    frames.delete(session);
    request.frame = null;
    endSession({ context, request, reply });
    return null;
  }
}

/** Receives the form. Returns null if the API token has become invalid while the form was being sent. */
async function receive(exchange: Exchange, signedIn: SignedIn): Promise<SignedIn | null> {
  const { options, request, reply } = exchange;
  admit(exchange, signedIn);
  if (request.method !== 'POST') return signedIn;
  const since = performance.now();
  const isComplete = request.raw.complete;
  exchange.received = receiveForm(options, request, signedIn.caller.workspaceId);
  await exchange.received;
  if (!isComplete) exchange.startedAt = performance.now();
  return isLateBody(since) ? findSignedIn(options, request, reply) : signedIn;
}

async function respond(exchange: Exchange, signedIn: SignedIn): Promise<Response> {
  const { page, request } = exchange;
  const form = (await exchange.received) ?? new Form([]);
  if (form.has(KEPT_FORM) && isFromThisSite(request)) return resumeForm(exchange, signedIn, form);
  const call = preparePageCall(exchange, signedIn, form);
  const isOwn = request.method === 'GET' || isMasked(call.session.csrfToken, form.text('csrf'));
  return sendResult(exchange, call, isOwn ? await perform(page, call) : await showAgain(page, call));
}

/** Runs the handler. If it rejects what was typed, shows the form again. */
async function perform(page: Page, call: PageCall): Promise<View | Redirect | Download> {
  try {
    return await page.handle(call);
  } catch (error) {
    if (error instanceof CursorOfAnotherList) return missingPageView(call);
    if (page.onRejection === undefined || !(error instanceof Problem) || httpStatus(error) >= 500)
      return missingObjectView(call, error);
    // A large form is not rejected and shown again in one turn of the event loop.
    await call.context.cpu.turn(call.form.size, GRACE_MS);
    const view = page.onRejection(call, error).catch((failure) => missingObjectView(call, failure));
    return { status: httpStatus(error), ...(await view) };
  }
}

/**
 * Runs before a 404 response. Redirects a path with a trailing slash and returns true; otherwise, gives the response the
 * frame of other pages if the person is signed in.
 */
export async function beforeMissingPage(
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
  if (options.context.store.admits('read', () => guessTenant(options, request)))
    await findSignedIn(options, request, reply);
  return false;
}

/** Takes linear time for a path full of slashes, which anyone can send. */
const SLASH_AT_END = /^(\/console(?:\/+[^/?]+)*)\/+(\?.*)?$/;

/** Returns the URL without its trailing slash; null if it has none. */
function withoutSlash({ method, url }: FastifyRequest): string | null {
  const [, path, query = ''] = SLASH_AT_END.exec(url) ?? [];
  return path === undefined || method !== 'GET' ? null : path + query;
}

/** Decodes ids in path parameters; see `pathTo`. No id has white space at either end, but links in mails do. */
function withIds(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, part]) => [name, idInPath(part.trim())]));
}
