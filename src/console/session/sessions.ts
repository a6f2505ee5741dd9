// The API tokens that a person has signed in with in this browser, to switch between workspaces and environments.

import { readApiToken } from '../../operations/api-token/api-token.ts';
import { findActiveApiToken } from '../../operations/api-token/authenticate.ts';
import { actionForm, hidden, submit } from '../form/fields.ts';
import { badge, buttonTo, type Html, html, pathTo, table } from '../markup/html.ts';
import { firstPage, pageUrl } from '../markup/pagination.ts';
import { type Page, type PageCall, READERS } from '../page.ts';
import { nextPath, pageBefore } from '../request/browser.ts';
import { digestOfSession, requestSessions, SLOTS, storeSession } from './session.ts';

const PATH = pathTo('sessions');
const shared = {
  permissions: READERS,
  purpose: 'switch between API tokens',
  access: 'read',
} as const;

export const sessions: Page = {
  ...shared,
  method: 'GET',
  path: '/sessions',
  handle: async (call) => {
    // A switch leads back to the page that linked to this one, to compare two environments.
    const next = firstPage(pageBefore(call.request));
    const rows: (readonly [string, string, string, string, Html])[] = [];
    for (const [slot, session] of requestSessions(call.context, call.request)) {
      const caller = await findActiveApiToken(call.context, digestOfSession(session));
      if (caller === null) continue;
      const { workspaceName } = await readApiToken(call.context, caller, caller.apiTokenId);
      const { environment, name, apiTokenId, permission } = caller;
      rows.push([
        workspaceName,
        environment,
        name ?? `API token ${apiTokenId}`,
        permission,
        slot === 0
          ? badge('neutral', 'active')
          : switchForm(call, slot, next, `${workspaceName}, ${environment}`),
      ]);
    }
    return {
      title: 'Switch workspace or environment',
      actions: buttonTo(
        pageUrl('/console/sign-in', { another: '1', next }),
        'Sign in with another API token',
        'primary',
      ),
      main: html`<p class="hint">The API tokens that you have signed in with in this browser, at most ${SLOTS.length}. Signing out ends all sessions.</p>
${table('Sessions', ['Workspace', 'Environment', 'API token', 'Permission', 'Session'], rows)}`,
    };
  },
};

/** Swaps the cookies of the active session and another one. */
export const switchSession: Page = {
  ...shared,
  method: 'POST',
  path: '/sessions/switch',
  handle: async (call) => {
    const { context, session, form, request } = call;
    const slot = Number(form.choice('slot', SLOTS.map((_, each) => String(each)).slice(1)));
    const other = requestSessions(context, request).get(slot);
    if (other === undefined) return { location: PATH };
    storeSession(call, other);
    storeSession(call, session, slot);
    return { location: nextPath(form.text('next')) };
  },
};

function switchForm({ session }: PageCall, slot: number, next: string, to: string): Html {
  return actionForm(
    session,
    `${PATH}/switch`,
    html`${hidden('slot', String(slot))}${hidden('next', next)}${submit('Switch', 'plain', `to ${to}`)}`,
  );
}
