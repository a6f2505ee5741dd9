// Signing in with an API token, and signing out.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Secret } from '../domain/secret.ts';
import { digestOfApiToken } from '../domain/token.ts';
import { pageLimitOf } from '../http/public-endpoint.ts';
import { authenticate } from '../operations/api-token/authenticate.ts';
import { Problem } from '../problem.ts';
import { UNKNOWN_TENANT } from '../scheduling/fair-queue.ts';
import { submit, textField } from './fields.ts';
import { html } from './html.ts';
import type { Page, View } from './page.ts';
import {
  type ConsoleOptions,
  isSecure,
  maySignIn,
  queryOf,
  readForm,
  redirect,
  requestSession,
  sendView,
  tracked,
} from './serve.ts';
import { expiredCookie, newSession, sessionCookie } from './session.ts';

const HOME = '/console/user-groups';
/** Largest sign-in form, which anyone can submit: more than the longest address to return to. */
const MAX_BYTES = 65_536;

export function addSignIn(app: FastifyInstance, options: ConsoleOptions): void {
  const { context, publicLimit, assets } = options;
  const config = { operationId: 'console sign-in' };
  const page = { config, onRequest: pageLimitOf(options) };
  app.get('/console', page, (_request, reply) => redirect(reply, HOME));

  app.get('/console/sign-in', page, async (request, reply) => {
    const next = nextOf(queryOf(request).get('next') ?? '');
    if (requestSession(context, request) !== null) return redirect(reply, next);
    return sendView(reply, await assets(), request.url, signInView(next), null);
  });

  app.post('/console/sign-in', { config }, (request, reply) =>
    tracked(options, async () => {
      refuseOtherSites(request);
      const form = await readForm(options, request, UNKNOWN_TENANT, MAX_BYTES);
      const next = nextOf(form.text('next'));
      const apiToken = new Secret(form.text('api_token').trim());
      try {
        const caller = await authenticate(context, digestOfApiToken(apiToken.reveal()));
        if (!maySignIn(caller)) throw notForPeople(caller.permission);
      } catch (error) {
        if (!(error instanceof Problem) || !isRejection(error)) throw error;
        const refused = publicLimit?.refuse(request.raw, error) ?? error;
        if (refused !== error) throw refused;
        reply.code(error.code === 'unauthenticated' ? 401 : 403);
        const problem = error.code === 'unauthenticated' ? UNKNOWN : error;
        return sendView(reply, await assets(), request.url, signInView(next, problem), null);
      }
      // New session id: prevents session fixation.
      const cookie = sessionCookie(
        context.keyRing,
        newSession(apiToken),
        context.clock(),
        isSecure(context, request),
      );
      reply.header('set-cookie', cookie);
      return redirect(reply, next);
    }),
  );
}

export const signOut: Page = {
  method: 'POST',
  path: '/sign-out',
  permissions: ['read-write', 'read-only'],
  purpose: 'sign out',
  access: 'read',
  handle: async ({ context, request, reply }) => {
    reply.header('set-cookie', expiredCookie(isSecure(context, request)));
    return { location: '/console/sign-in' };
  },
};

const UNKNOWN = new Problem('unauthenticated', 'This API token is not valid: mistyped, expired or revoked.', {
  errors: [{ pointer: '/api_token', detail: 'is not valid: mistyped, expired or revoked' }],
});

function notForPeople(permission: string): Problem {
  const detail = `has the permission ${permission}; the console requires read-only, read-write or admin`;
  return new Problem('permission_denied', `This API token ${detail}.`, {
    errors: [{ pointer: '/api_token', detail }],
  });
}

function isRejection({ code }: Problem): boolean {
  return code === 'unauthenticated' || code === 'permission_denied';
}

function signInView(next: string, problem?: Problem): View {
  const field = textField({
    name: 'api_token',
    label: 'API token',
    type: 'password',
    hint: 'With the permission admin, read-write or read-only: “user-group-service api-token create” creates one; “npm start” stores one in data/admin-token.',
    isRequired: true,
    problem,
  });
  return {
    title: 'Sign in',
    main: html`<h1>Sign in</h1>
<form method="post" action="/console/sign-in" class="narrow">
<input type="hidden" name="next" value="${next}">
${field}
${submit('Sign in')}
</form>`,
  };
}

/** A path of the console: never another site. */
function nextOf(text: string): string {
  const url = URL.parse(text, 'http://console');
  if (url === null || url.host !== 'console' || !url.pathname.startsWith('/console/')) return HOME;
  return url.pathname.startsWith('/console/sign-') ? HOME : url.pathname + url.search;
}

/** Throws `origin_not_allowed`. There is no session yet, so no token in the form; browsers say where it is from. */
function refuseOtherSites({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'];
  const isSameOrigin = site === undefined ? headers.origin !== undefined : site === 'same-origin';
  if (isSameOrigin && headers.origin !== 'null') return;
  throw new Problem(
    'origin_not_allowed',
    'Sign in on the page of the console itself: the request names no origin, or that of another site.',
  );
}
