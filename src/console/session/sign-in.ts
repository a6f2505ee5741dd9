// Signing in with an API token, and signing out.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { pageLimiter } from '../../http/public-endpoint.ts';
import { findActiveApiToken } from '../../operations/api-token/authenticate.ts';
import type { Context } from '../../operations/context.ts';
import { Problem } from '../../problem.ts';
import { UNKNOWN_TENANT } from '../../scheduling/fair-queue.ts';
import { html } from '../markup/html.ts';
import { type Page, READERS } from '../page.ts';
import { nextPath, queryParameters, refuseOtherSites } from '../request/browser.ts';
import { type ConsoleOptions, receiveForm, tracked } from '../request/exchange.ts';
import { redirect, sendView } from '../request/response.ts';
import { digestOfSession, endSession, requestSession, SLOTS } from './session.ts';
import { signInView, signInWith } from './sign-in-form.ts';

const PATH = '/console/sign-in';
const DONE_PATH = `${PATH}/done`;
/** Largest sign-in form, which anyone can submit: more than the longest address to return to. */
const MAX_BYTES = 65_536;

export function addSignIn(app: FastifyInstance, options: ConsoleOptions): void {
  const { context, assets } = options;
  const config = { operationId: 'console sign-in' };
  const page = { config, onRequest: pageLimiter(options) };

  // Never reloads: the page that a link led to has reloaded once to get here.
  app.get(PATH, page, async (request, reply) => {
    const query = queryParameters(request);
    const next = nextPath(query.get('next') ?? '');
    const isAnother = query.has('another');
    if (!isAnother && (await isSignedIn(context, request))) return redirect(reply, next);
    return sendView(request, reply, await assets(), signInPage(next, isAnother));
  });

  app.post(PATH, { config }, (request, reply) =>
    tracked(options, async () => {
      refuseOtherSites(request);
      const form = await receiveForm(options, request, UNKNOWN_TENANT, MAX_BYTES);
      const next = nextPath(form.text('next'));
      const result = await signInWith({ context, request, reply }, form, options.publicLimit);
      if (!(result instanceof Problem))
        return redirect(reply, `${DONE_PATH}?${new URLSearchParams({ next })}`);
      return sendView(request, reply, await assets(), signInPage(next, form.has('another'), result));
    }),
  );

  // Otherwise a browser that keeps no session would show the sign-in page again, without a reason.
  app.get(DONE_PATH, { config }, async (request, reply) => {
    const next = nextPath(queryParameters(request).get('next') ?? '');
    if (await isSignedIn(context, request)) return redirect(reply, next);
    options.publicLimit?.countPage(request.raw);
    return sendView(request, reply, await assets(), signInPage(next, false, NOT_KEPT));
  });
}

const NOT_KEPT = new Problem(
  'unauthenticated',
  'The API token is valid, but this browser has not kept the session. Allow cookies for this address. If the address begins with http:, open the one that begins with https:.',
);

export const signOut: Page = {
  method: 'POST',
  path: '/sign-out',
  permissions: READERS,
  purpose: 'sign out',
  access: 'read',
  handle: async (call) => {
    for (const slot of SLOTS.keys()) endSession(call, slot);
    return { location: PATH };
  },
};

/** Checks the API token too: otherwise this page and one that rejects it would redirect to each other. */
async function isSignedIn(context: Context, request: FastifyRequest): Promise<boolean> {
  const session = requestSession(context, request);
  return session !== null && (await findActiveApiToken(context, digestOfSession(session))) !== null;
}

function signInPage(next: string, isAnother: boolean, problem?: Problem) {
  const text = html`<p>You stay signed in with the other API tokens, and can switch between them.</p>`;
  const fields = { next, ...(isAnother && { another: '1' }) };
  return signInView({ action: PATH, fields, ...(isAnother && { text }) }, problem);
}
