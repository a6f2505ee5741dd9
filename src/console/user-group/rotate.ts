import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { rotateTokenById } from '../../operations/user-group/rotate-by-id.ts';
import { choiceField } from '../fields.ts';
import { type Html, html, time } from '../html.ts';
import { applyToGroup, groupConfirmation } from './group.ts';

/** Seconds. */
const GRACE_PERIODS = [
  ['0', 'None: the current token stops working immediately'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;
const DEFAULT = '86400';

export const rotation = groupConfirmation({
  action: 'rotate',
  purpose: 'rotate tokens',
  title: 'Rotate the token of',
  heading: 'Rotate the token',
  effect:
    'The user group gets a new token. Dashboards that present the current one show an error from the end of its grace period on.',
  button: 'Rotate',
  initial: () => ({ grace_period_seconds: DEFAULT }),
  act: async (call) => {
    const choices = GRACE_PERIODS.map(([seconds]) => seconds);
    const gracePeriod = Number(call.form.choice('grace_period_seconds', choices) ?? DEFAULT);
    return applyToGroup(
      call,
      (context, caller, id, precondition) => rotateTokenById(context, caller, id, gracePeriod, precondition),
      'rotated',
    );
  },
  consequences: (userGroup, { context }) => [replacedBefore(userGroup, context.clock())],
  fields: (form) =>
    choiceField({
      ...form.field('grace_period_seconds'),
      label: 'Grace period of the current token',
      hint: 'None if the token has leaked.',
      value: form.text('grace_period_seconds') || DEFAULT,
      choices: GRACE_PERIODS,
    }),
});

function replacedBefore({ previousTokenExpiresAt }: UserGroup, now: number): Html {
  if (previousTokenExpiresAt === null || previousTokenExpiresAt <= now)
    return html`At most one replaced token resolves: another rotation ends the grace period of this one.`;
  return html`<strong>The token that the last rotation replaced resolves until ${time(previousTokenExpiresAt)}. This rotation ends it now.</strong>`;
}
