// The pipeline of every page: session, API token, permission, form, action; then the page, a redirect, or the problem as
// a page.

import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, isPermitted } from '../domain/api-token.ts';
import { digestOfApiToken } from '../domain/token.ts';
import { withDeadline } from '../http/endpoint.ts';
import type { BodyAdmission } from '../http/limits/body-admission.ts';
import type { InFlight } from '../http/limits/in-flight.ts';
import type { PublicLimit } from '../http/limits/public-limit.ts';
import type { RateLimit } from '../http/limits/rate-limit.ts';
import type { UnreadResponses } from '../http/limits/response-backpressure.ts';
import { announcedBytes, readBody } from '../http/request/body.ts';
import { encodedQueryOf } from '../http/request/query.ts';
import { pageHeaders } from '../http/response/page-headers.ts';
import { statusOf } from '../http/response/problem.ts';
import { authenticate, Unauthenticated } from '../operations/api-token/authenticate.ts';
import type { Context } from '../operations/context.ts';
import { overloaded, permit } from '../operations/refusals.ts';
import { Problem } from '../problem.ts';
import { Form, MAX_FORM_BYTES } from './form.ts';
import { document, type PageAssets, type SignedIn } from './layout.ts';
import { type Page, type PageCall, READERS, type Redirect, type View } from './page.ts';
import { expiredCookie, type Session, sessionOf } from './session.ts';
import type { WorkspaceNames } from './workspace-names.ts';

/** Most of a token of a user group or of the API, or a JWT. */
const TOKEN = /ug[ta]_[0-9A-Za-z]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./;
const TOKEN_IN_ADDRESS = '/console/user-groups?token_in_search=1';

export interface ConsoleOptions {
  context: Context;
  limit: RateLimit | null;
  publicLimit: PublicLimit | null;
  running: InFlight;
  bodies: BodyAdmission;
  unread: UnreadResponses;
  demoDirectory: string | null;
  names: WorkspaceNames;
  assets: () => Promise<PageAssets>;
}

export function addPage(app: FastifyInstance, options: ConsoleOptions, page: Page): void {
  const config = { operationId: `console ${page.method} ${page.path}` };
  const handler = (request: FastifyRequest, reply: FastifyReply) =>
    tracked(options, async () => {
      if (!options.context.store.admits(page.access)) throw overloaded;
      const query = queryOf(request);
      if (hasToken(query)) return redirect(reply, TOKEN_IN_ADDRESS);
      const signedIn = await signedInOf(options, request, reply);
      if (signedIn === null) {
        options.publicLimit?.countPage(request.raw);
        return askToSignIn(request, reply);
      }
      const { workspaceId } = signedIn.caller;
      options.context.activity.seen(workspaceId);
      options.unread.admit(workspaceId, page.access);
      permit(signedIn.caller, page.permissions.length > 0 ? page.permissions : ['admin'], page.purpose);
      const call = await callOf(options, signedIn, { query, request, reply });
      const result = await perform(page, call);
      if ('location' in result) return redirect(reply, result.location);
      reply.code(result.status ?? 200);
      const text = sendView(reply, await options.assets(), request.url, result, signedIn);
      options.unread.count(workspaceId, page.access, reply.raw, text);
      return text;
    });
  app.route({ method: page.method, url: `/console${page.path}`, handler, config });
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
async function perform(page: Page, call: PageCall): Promise<View | Redirect> {
  try {
    return await page.handle(call);
  } catch (error) {
    if (page.retry === undefined || !(error instanceof Problem) || statusOf(error) >= 500) throw error;
    return { status: statusOf(error), ...(await page.retry(call, error)) };
  }
}

/** Returns null without a session, or if its API token is no longer valid. */
async function signedInOf(
  { context, limit, names }: ConsoleOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn | null> {
  const session = requestSession(context, request);
  if (session === null) return null;
  try {
    const caller = await authenticate(context, digestOfApiToken(session.apiToken.reveal()));
    request.apiTokenId = caller.apiTokenId;
    limit?.(caller, reply);
    return { caller, workspace: await names.of(context, caller), session };
  } catch (error) {
    if (!(error instanceof Unauthenticated)) throw error;
    reply.header('set-cookie', expiredCookie(isSecure(context, request)));
    return null;
  }
}

async function callOf(
  options: ConsoleOptions,
  { caller, session }: Pick<SignedIn, 'caller' | 'session'>,
  { query, request, reply }: Pick<PageCall, 'query' | 'request' | 'reply'>,
): Promise<PageCall> {
  const { workspaceId } = caller;
  const form = request.method === 'POST' ? await readForm(options, request, workspaceId) : Form.empty;
  if (request.method === 'POST') refuseForgery(form, session);
  const bounded = withDeadline(options.context, request, workspaceId);
  const context = { ...bounded, origin: { via: 'console', requestId: request.id } as const };
  const { demoDirectory } = options;
  return { context, caller, session, query, form, request, reply, demoDirectory };
}

/** Throws `body_too_large`, and `overloaded` if too many large forms are being sent. */
export async function readForm(
  { bodies }: ConsoleOptions,
  { raw }: FastifyRequest,
  tenant: number,
  maxBytes = MAX_FORM_BYTES,
): Promise<Form> {
  using reservation = bodies.open(tenant);
  try {
    reservation.grow(announcedBytes(raw, maxBytes));
    return Form.read(raw, await readBody(raw, reservation, maxBytes));
  } catch (problem) {
    // Discards the rest: a browser sends the whole form before it reads the response.
    raw.resume();
    throw problem;
  }
}

/** Throws `origin_not_allowed`. Other sites cannot read the token of a form; `Origin` is already checked if sent. */
function refuseForgery(form: Form, { csrfToken }: Session): void {
  const [sent, expected] = [Buffer.from(form.text('csrf')), Buffer.from(csrfToken)];
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return;
  throw new Problem(
    'origin_not_allowed',
    'This form is not from your session. Go back, reload the page, and try again.',
  );
}

export function sendView(
  reply: FastifyReply,
  assets: PageAssets,
  path: string,
  view: View,
  signedIn: SignedIn | null,
): string {
  reply.headers(pageHeaders);
  return document(assets, path, view, signedIn).markup;
}

export function redirect(reply: FastifyReply, location: string): FastifyReply {
  return reply.code(303).headers(pageHeaders).header('location', location).send();
}

/** A token does not belong in an address, where histories and logs keep it, nor is it repeated on a page. */
function hasToken(query: URLSearchParams): boolean {
  return [...query.values()].some((text) => TOKEN.test(text));
}

function askToSignIn(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = signInPath(request);
  // The live search would follow a redirect, and look for its results on the page to sign in.
  if (request.headers['hx-request'] !== 'true') return redirect(reply, path);
  return reply.code(204).headers(pageHeaders).header('hx-redirect', path).send();
}

/** Returns to a page after signing in, but repeats no action. */
function signInPath({ method, url }: FastifyRequest): string {
  return method === 'GET' ? `/console/sign-in?next=${encodeURIComponent(url)}` : '/console/sign-in';
}

/** Returns null if the request has no valid session. */
export function requestSession(context: Context, request: FastifyRequest): Session | null {
  return sessionOf(context.keyRing, request.raw, context.clock(), isSecure(context, request));
}

/** Whether the browser uses HTTPS, as far as this process knows. */
export function isSecure({ publicUrl }: Context, { headers }: FastifyRequest): boolean {
  return publicUrl.startsWith('https:') || headers['x-forwarded-proto'] === 'https';
}

export function queryOf({ url }: FastifyRequest): URLSearchParams {
  return new URLSearchParams(encodedQueryOf(url));
}

export function maySignIn(caller: Caller): boolean {
  return isPermitted(caller, READERS);
}
