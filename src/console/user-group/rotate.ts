import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { versionTag } from '../../domain/user-group/user-group.ts';
import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { rotateTokenById } from '../../operations/user-group/rotate-by-id.ts';
import { choiceField } from '../fields.ts';
import { formPages, formView } from '../form-pages.ts';
import { type Html, html, link, pathTo, time } from '../html.ts';
import { withNotice } from '../notice.ts';
import { WRITERS } from '../page.ts';
import { confirmationProblem, preconditionIn, versionField } from '../version.ts';
import { consequences } from './consequences.ts';

/** In seconds. */
const GRACE_PERIODS = [
  ['0', 'None: the current token stops working immediately'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;
const DEFAULT = '86400';

export const rotation = formPages({
  path: '/user-groups/:user_group_id/rotate',
  permissions: WRITERS,
  purpose: 'rotate tokens',
  initial: () => ({ grace_period_seconds: DEFAULT }),
  act: async ({ context, caller, request, form }) => {
    const id = userGroupIdOf(request);
    const choices = GRACE_PERIODS.map(([seconds]) => seconds);
    const gracePeriod = form.choice('grace_period_seconds', choices) ?? DEFAULT;
    await rotateTokenById(context, caller, id, Number(gracePeriod), preconditionIn(form));
    return { location: withNotice(pathTo('user-groups', id), 'rotated') };
  },
  view: async (call, form, problem) => {
    const { context, caller, request } = call;
    const userGroup = await findUserGroup(context, caller, userGroupIdOf(request));
    const { providedId } = userGroup;
    const group = pathTo('user-groups', providedId);
    return formView(call, {
      title: `Rotate the token of ${providedId}`,
      heading: 'Rotate the token',
      text: html`<p>${link(group, providedId)}</p>
${confirmationProblem('user group', problem)}
<p>The user group gets a new token. Dashboards that present the current one show an error from the end of its grace period on.</p>
${await consequences(call, userGroup, [replacedBefore(userGroup, context.clock())])}`,
      action: `${group}/rotate`,
      fields: html`${versionField(versionTag(userGroup))}
${choiceField({
  name: 'grace_period_seconds',
  label: 'Grace period of the current token',
  hint: 'None if the token has leaked.',
  value: form.text('grace_period_seconds') || DEFAULT,
  choices: GRACE_PERIODS,
  problem,
})}`,
      button: 'Rotate',
      isDangerous: true,
      back: group,
    });
  },
});

function replacedBefore({ previousTokenExpiresAt }: UserGroup, now: number): Html {
  if (previousTokenExpiresAt === null || previousTokenExpiresAt <= now)
    return html`At most one replaced token resolves: another rotation ends the grace period of this one.`;
  return html`<strong>The token that the last rotation replaced resolves until ${time(previousTokenExpiresAt)}. This rotation ends it now.</strong>`;
}
