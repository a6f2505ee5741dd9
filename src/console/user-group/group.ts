// The user group in the path of a page, and the pages that confirm an action on it.

import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import { capitalized } from '../../http/description.ts';
import { userGroupIdParameter } from '../../http/request/path-parameter.ts';
import type { Context } from '../../operations/context.ts';
import { type EnvironmentConfig, findInConfig } from '../../operations/document/environment-config.ts';
import { findIntegration } from '../../operations/integration/integration.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { lastEventsOfGroup } from '../event/last.ts';
import { textField } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import { type FormPages, formPages } from '../form/form-pages.ts';
import { confirmation, isConflict, preconditionIn } from '../form/version.ts';
import { integrationLink } from '../integration/integration.ts';
import {
  badge,
  bdi,
  copyButton,
  type Html,
  html,
  type Insertion,
  lastUse,
  NO_HTML,
  pathTo,
  table,
  userGroupLink,
} from '../markup/html.ts';
import { environmentConfig, type Page, type PageCall, type Redirect, WRITERS } from '../page.ts';

/** Throws `user_group_not_found`. */
export function groupIn({ context, caller, request }: PageCall): Promise<UserGroup> {
  return findUserGroup(context, caller, userGroupIdParameter(request));
}

/** Returns the group with the configuration that says what it leads to. Throws `user_group_not_found`. */
export async function groupInConfig(
  call: PageCall,
): Promise<{ userGroup: UserGroup; config: EnvironmentConfig }> {
  const { found, config } = await findInConfig(call.context, call.caller, async () => ({
    userGroup: await groupIn(call),
  }));
  return { ...found, config };
}

/** Links to the group, and names it: an id may say nothing to people. */
export function groupLine({ providedId, name }: UserGroup, beside: Html = NO_HTML): Html {
  return html`<p>${userGroupLink(providedId)}${beside} (${bdi(name)})</p>`;
}

export function statusBadge({ suspendedAt }: UserGroup): Html {
  return suspendedAt === null ? badge('good', 'active') : badge('bad', 'suspended');
}

/** Applies an operation to the group in the path, at the version that the form was opened with. */
export async function applyToGroup(
  { context, caller, request, form }: PageCall,
  operation: (context: Context, caller: Caller, id: string, precondition: Precondition) => Promise<unknown>,
  notice: string,
): Promise<Redirect> {
  const id = userGroupIdParameter(request);
  await operation(context, caller, id, preconditionIn(form));
  return { location: pathTo('user-groups', id), notice };
}

export const UNCHANGED = 'The stored user group is as you typed it: there was nothing to save.';

interface Confirmation extends Pick<FormPages, 'act'>, Partial<Pick<FormPages, 'purpose'>> {
  /** Verb; last part of the path, and the text of the button. */
  action: string;
  /** Title without the id, which follows; the verb if absent. */
  title?: string;
  heading?: string;
  effect: string;
  consequences?(userGroup: UserGroup, call: PageCall): readonly Insertion[];
  fields?(form: Form): Html;
  /** Label of the field for an id; absent if there is none. */
  idLabel?: string;
}

/** Pages of an action that breaks something: a confirmation that says what, then the action. */
export function groupConfirmation({ action, act, idLabel, ...content }: Confirmation): [Page, Page] {
  const button = capitalized(action);
  const { purpose = `${action} user groups`, title = button, heading = `${button} user group` } = content;
  return formPages({
    path: `/user-groups/:user_group_id/${action}`,
    permissions: WRITERS,
    purpose,
    act,
    view: async (call, form) => {
      const userGroup = await groupIn(call);
      const { providedId } = userGroup;
      return confirmation(form, 'user group', versionTag(userGroup), {
        title: `${title} ${providedId}`,
        heading,
        subject: groupLine(userGroup, copyButton(providedId, 'id')),
        ...(idLabel !== undefined && { labels: { user_group_id: idLabel } }),
        text: html`<p>${content.effect}</p>
<ul>
<li>Its token was last seen: ${lastUse(userGroup.lastSeenAt)}.</li>
${content.consequences?.(userGroup, call).map((item) => html`<li>${item}</li>`) ?? ''}
</ul>
${await integrations(call)}
${isConflict(form.problem) ? await lastEventsOfGroup(call, providedId) : ''}`,
        fields: html`${content.fields?.(form) ?? ''}
${idLabel === undefined ? '' : textField({ ...form.field('user_group_id'), label: idLabel, isRequired: true })}`,
        button,
      });
    },
  });
}

/** Lists all integrations: each can mint for any group of its environment. */
async function integrations(call: PageCall): Promise<Html> {
  const config = await environmentConfig(call);
  const rows = [...config.ofKind('integration').keys()].map((id) => {
    const { type, ttlSeconds } = findIntegration(config, id).integration;
    return [integrationLink(call.caller, id), type, html`${ttlSeconds} seconds at most`];
  });
  if (rows.length === 0) return NO_HTML;
  return html`<h2>Integrations that mint for it</h2>
<p>This service immediately rejects the embed tokens minted so far. A tool that checks only the signature accepts them until they expire.</p>
${table('Integrations', ['Integration', 'Type', 'Tokens expire after'], rows)}`;
}
