import { invalidField } from '../../domain/request-body.ts';
import { previousTokenUntil, type UserGroup } from '../../domain/user-group/user-group.ts';
import { rotateTokenById } from '../../operations/user-group/rotate.ts';
import { choiceField } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import { type Html, html, time } from '../markup/html.ts';
import { applyToGroup, groupConfirmation } from './group.ts';

/** Default grace period in seconds by reason. */
const REASONS = { leak: 0, routine: 86_400 } as const satisfies Record<string, number>;
const reasons = Object.keys(REASONS) as (keyof typeof REASONS)[];
const reasonChoices = [
  ['', 'choose'],
  ['leak', 'the token has leaked, or may have'],
  ['routine', 'routine: no leak is suspected'],
] as const;

/** Seconds. */
const GRACE_PERIODS = [
  ['', 'Depends on the reason: none after a leak, otherwise 1 day'],
  ['0', 'None: the current token stops working immediately'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;

export const rotation = groupConfirmation({
  action: 'rotate',
  purpose: 'rotate tokens',
  title: 'Rotate the token of',
  heading: 'Rotate the token',
  effect:
    'The user group gets a new token. Dashboards that present the current one show an error once its grace period has ended.',
  act: async (call) => {
    const gracePeriod = gracePeriodIn(call.form);
    return applyToGroup(
      call,
      (context, caller, id, precondition) => rotateTokenById(context, caller, id, gracePeriod, precondition),
      'The token was rotated. “Show token” shows the new one: store it wherever the old one was used.',
    );
  },
  consequences: (userGroup, { context }) => [replacedBefore(userGroup, context.clock())],
  fields: (form) => html`${choiceField({ ...form.field('reason'), choices: reasonChoices })}
${choiceField({ ...form.field('grace_period_seconds'), choices: GRACE_PERIODS })}`,
});

/** Returns the grace period in seconds. Throws `invalid_request` if neither it nor a reason was chosen. */
function gracePeriodIn(form: Form): number {
  const choices = GRACE_PERIODS.map(([seconds]) => seconds);
  const chosen = form.choice('grace_period_seconds', choices);
  const reason = form.choice('reason', reasons);
  if (chosen !== undefined) return Number(chosen);
  if (reason === undefined) throw invalidField('/reason', 'must be chosen: it decides the grace period');
  return REASONS[reason];
}

function replacedBefore(userGroup: UserGroup, now: number): Html {
  const until = previousTokenUntil(userGroup, now);
  if (until === null)
    return html`At most one replaced token resolves: another rotation ends the grace period of this one.`;
  return html`<strong>The token that the last rotation replaced resolves until ${time(until)}. This rotation ends it now.</strong>`;
}
