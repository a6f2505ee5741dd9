// Finds the user group of a token. The form is posted, so that neither a URL nor a history contains the
// token.

import { digestOfApiToken, findUserGroupToken } from '../../domain/token.ts';
import { findTokenOwner } from '../../operations/user-group/find-token-owner.ts';
import { Problem } from '../../problem.ts';
import { problemSummary, textField } from '../form/fields.ts';
import { formPages } from '../form/form-pages.ts';
import { pathTo } from '../markup/html.ts';
import { READERS } from '../page.ts';

/** `-` stands in place of an id, as in the path of the form for a new group. */
const path = '/user-groups/-/find-by-token';
export const FIND_PATH = `/console${path}`;

export const findByToken = formPages({
  path,
  permissions: READERS,
  purpose: 'find user groups',
  access: 'read',
  act: async ({ context, caller, form }) => {
    const pasted = form.text('token').trim();
    for (const text of new Set([pasted, tokenWithin(pasted)])) {
      const owner = await findTokenOwner(context, caller, text);
      if (owner === null) continue;
      const group = pathTo('user-groups', owner.userGroup.providedId);
      return { location: group, notice: `token_${owner.status}` };
    }
    throw digestOfApiToken(pasted) === null ? NOT_FOUND : API_TOKEN;
  },
  /** Never repeats what was typed: a page contains a token only if a person asks for it. */
  view: (_call, _form, problem) => ({
    title: 'Find by token',
    heading: 'Find a user group by its token',
    text: problemSummary(problem),
    fields: textField({
      name: 'token',
      label: 'Token',
      type: 'password',
      hint: 'A user group token, or an embed token of the type jwt. Looking it up does not change “Last seen”.',
      isRequired: true,
      problem,
    }),
    button: 'Find',
    back: pathTo('user-groups'),
  }),
});

/** Finds the token within a text, such as an address, a header, or what a mail has wrapped or hyphenated. */
function tokenWithin(text: string): string {
  const embedToken = () => text.split(/[^\w.-]+/).find((part) => part.startsWith('eyJ'));
  return findUserGroupToken(text.replace(/[\s\p{Cf}]+/gu, '')) ?? embedToken() ?? text;
}

const API_TOKEN = new Problem(
  'user_group_token_not_found',
  'That is an API token, which no user group has.',
  {
    errors: [{ pointer: '/token', detail: 'must be the token of a user group, not an API token' }],
  },
);

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
