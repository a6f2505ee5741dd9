// Finds the user group of a token, or an API token by its text. The form is posted, so that neither a URL nor a
// history contains the token.

import { isPermitted } from '../../domain/api-token.ts';
import { isSameTenant } from '../../domain/tenant.ts';
import { digestOfApiToken, findApiToken, findUserGroupToken } from '../../domain/token.ts';
import { authenticates } from '../../operations/api-token/authenticate.ts';
import { findTokenOwner } from '../../operations/user-group/find-token-owner.ts';
import { Problem } from '../../problem.ts';
import { API_TOKENS } from '../api-token/show.ts';
import { textField } from '../form/fields.ts';
import { formPages } from '../form/form-pages.ts';
import { pathTo } from '../markup/html.ts';
import { ADMINS, type PageCall, READERS, type Redirect } from '../page.ts';

/** `-` stands in place of an id, as in the path of the form for a new group. */
const path = '/user-groups/-/find-by-token';
export const FIND_PATH = `/console${path}`;

export const findByToken = formPages({
  path,
  permissions: READERS,
  purpose: 'find user groups',
  access: 'read',
  act: async (call) => {
    const { context, caller, form } = call;
    // Tokens of other systems, too, have visible characters only.
    const pasted = form
      .text('token')
      .replace(/\p{Cf}/gu, '')
      .trim();
    for (const text of new Set([pasted, findUserGroupToken(pasted) ?? embedTokenWithin(pasted)])) {
      if (text === undefined) continue;
      const owner = await findTokenOwner(context, caller, text);
      if (owner === null) continue;
      return {
        location: pathTo('user-groups', owner.userGroup.providedId),
        notice: statusTexts[owner.status],
      };
    }
    const apiToken = findApiToken(pasted);
    if (apiToken !== undefined) return findByApiToken(call, apiToken);
    throw NOT_FOUND;
  },
  /** Never repeats what was typed: a page contains a token only if a person asks for it. */
  view: (_call, { problem }) => ({
    title: 'Find by token',
    fields: textField({
      name: 'token',
      isMasked: true,
      hint: 'A user group token, an embed token of the type jwt, or an API token, alone or with the text around it. Looking it up does not count as a use.',
      isRequired: true,
      problem,
    }),
    button: 'Find',
    back: pathTo('user-groups'),
  }),
});

const statusTexts = {
  current: 'The token is the current one of this user group.',
  retiring: 'The token was replaced by the last rotation and is in its grace period: it still resolves.',
  replaced: 'The token was replaced by the last rotation and no longer resolves.',
  embed: 'The embed token was minted for this user group and is valid.',
} as const;

/** Leads an administrator to the API token, valid or not. */
async function findByApiToken({ context, caller }: PageCall, text: string): Promise<Redirect> {
  if (!isPermitted(caller, ADMINS)) throw FOR_ADMINS;
  const digest = digestOfApiToken(text);
  const found = digest === null ? null : await context.store.read({ kind: 'findApiToken', digest });
  if (found === null || !isSameTenant(found, caller)) throw UNKNOWN_API_TOKEN;
  const isValid = authenticates(found, digest!, context.clock());
  return {
    location: pathTo(API_TOKENS, found.apiTokenId),
    notice: isValid
      ? 'The text is valid: requests with it are accepted.'
      : 'The text is no longer valid: requests with it are rejected.',
  };
}

function embedTokenWithin(text: string): string | undefined {
  return text.split(/[^\w.-]+/).find((part) => part.startsWith('eyJ'));
}

function notFound(message: string, detail: string): Problem {
  return new Problem('user_group_token_not_found', message, { errors: [{ pointer: '/token', detail }] });
}

const NOT_FOUND = notFound(
  'No user group of this workspace and environment has this token, or had it before its last rotation.',
  'is not known here: mistyped, incomplete, replaced long ago, expired, or of another environment',
);
const UNKNOWN_API_TOKEN = notFound(
  'That is an API token, but none of this workspace and environment.',
  'is not known here: mistyped, replaced long ago, or of another environment',
);
const FOR_ADMINS = notFound(
  'That is an API token, not the token of a user group. If it has leaked, ask an administrator to paste it here and to revoke it.',
  'is an API token, which only administrators can look up',
);
