// The user group in the path of a page, and the pages that confirm an action on it.

import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import type { Context } from '../../operations/context.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import type { Problem } from '../../problem.ts';
import type { Form } from '../form.ts';
import { type FormPages, formPages, formView } from '../form-pages.ts';
import { type Html, html, type Insertion, link, NO_HTML, pathTo } from '../html.ts';
import { withNotice } from '../notice.ts';
import { type Page, type PageCall, type Redirect, WRITERS } from '../page.ts';
import { confirmationProblem, preconditionIn, versionField } from '../version.ts';
import { consequences } from './consequences.ts';

/** Throws `user_group_not_found`. */
export function groupIn({ context, caller, request }: PageCall): Promise<UserGroup> {
  return findUserGroup(context, caller, userGroupIdOf(request));
}

/** Applies an operation to the group in the path, at the version that the form was opened with. */
export async function applyToGroup(
  { context, caller, request, form }: PageCall,
  operation: (context: Context, caller: Caller, id: string, precondition: Precondition) => Promise<unknown>,
  done: string,
): Promise<Redirect> {
  const id = userGroupIdOf(request);
  await operation(context, caller, id, preconditionIn(form));
  return { location: withNotice(pathTo('user-groups', id), done) };
}

interface Confirmation extends Pick<FormPages, 'purpose' | 'initial' | 'act'> {
  /** Last part of the path. */
  action: string;
  /** Of the page, without the id. */
  title: string;
  heading: string;
  button: string;
  /** Beside the link to the group. */
  name?(userGroup: UserGroup): string;
  /** Effect of the action. */
  effect: string;
  /** Further consequences. */
  consequences?(userGroup: UserGroup, call: PageCall): readonly Insertion[];
  fields?(form: Form, problem: Problem | undefined): Html;
}

/** An action that breaks something, after a page that says what. */
export function groupConfirmation({
  action,
  title,
  heading,
  button,
  effect,
  ...more
}: Confirmation): [Page, Page] {
  const { purpose, initial, act, name, fields } = more;
  return formPages({
    path: `/user-groups/:user_group_id/${action}`,
    permissions: WRITERS,
    purpose,
    ...(initial && { initial }),
    act,
    view: async (call, form, problem) => {
      const userGroup = await groupIn(call);
      const { providedId } = userGroup;
      const group = pathTo('user-groups', providedId);
      return formView(call, {
        title: `${title} ${providedId}`,
        heading,
        text: html`<p>${link(group, providedId)}${name?.(userGroup) ?? ''}</p>
${confirmationProblem('user group', problem)}
<p>${effect}</p>
${await consequences(call, userGroup, more.consequences?.(userGroup, call) ?? [])}`,
        action: `${group}/${action}`,
        fields: html`${versionField(versionTag(userGroup))}
${fields?.(form, problem) ?? NO_HTML}`,
        button,
        isDangerous: true,
        back: group,
      });
    },
  });
}
