// Whose token is it? The token is in a form that is posted, and so in no URL and no history.

import { findTokenOwner } from '../../operations/user-group/find-token-owner.ts';
import { Problem } from '../../problem.ts';
import { actionForm, cancel, problemSummary, submit, textField } from '../fields.ts';
import { html, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, type PageCall, READERS, type View } from '../page.ts';

/** Like that of the form for a new group. */
const path = '/user-groups/-/find-by-token';
export const FIND_PATH = `/console${path}`;

const shared = { path, permissions: READERS, purpose: 'find user groups', access: 'read' } as const;

export const findForm: Page = {
  ...shared,
  method: 'GET',
  handle: async (call) => findView(call),
};

export const find: Page = {
  ...shared,
  method: 'POST',
  handle: async ({ context, caller, form }) => {
    const owner = await findTokenOwner(context, caller, form.text('token').trim());
    if (owner === null) throw NOT_FOUND;
    return {
      location: withNotice(pathTo('user-groups', owner.userGroup.providedId), `token_${owner.status}`),
    };
  },
  retry: async (call, problem) => findView(call, problem),
};

const NOT_FOUND = new Problem(
  'user_group_token_not_found',
  'No user group of this workspace and environment has this token, or had it before its last rotation.',
  {
    errors: [
      {
        pointer: '/token',
        detail: 'is not known here: mistyped, replaced long ago, expired, or of another environment',
      },
    ],
  },
);

/** What was typed is not shown again: no page contains a token that was not asked for. */
function findView({ session }: PageCall, problem?: Problem): View {
  const field = textField({
    name: 'token',
    label: 'Token',
    type: 'password',
    hint: 'A user group token, or an embed token of the type jwt. This does not count as seen.',
    isRequired: true,
    problem,
  });
  const content = html`${field}
<div class="actions">${submit('Find')} ${cancel(pathTo('user-groups'))}</div>`;
  return {
    title: 'Find by token',
    main: html`<h1>Find a user group by its token</h1>
${problemSummary(problem)}
${actionForm(session, FIND_PATH, content)}`,
  };
}
