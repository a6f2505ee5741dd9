// Suspends or resumes the checked rows of a list: one page reviews them, and one shows what was done with
// each.

import { invalidField } from '../../domain/request-body.ts';
import { type UserGroup, versionTag } from '../../domain/user-group/user-group.ts';
import { mapInChunks } from '../../operations/pages.ts';
import { resumeUserGroup, suspendUserGroup } from '../../operations/user-group/suspend.ts';
import { Problem, type ProblemCode } from '../../problem.ts';
import { hidden } from '../form/fields.ts';
import type { Form } from '../form/form.ts';
import { formView } from '../form/form-pages.ts';
import { requiredVersion } from '../form/version.ts';
import { badge, buttonTo, type Html, html, table, time, userGroupLink } from '../markup/html.ts';
import { PAGE_SIZE, pageUrl } from '../markup/pagination.ts';
import { type Page, type PageCall, type View, WRITERS } from '../page.ts';
import { statusBadge } from './group.ts';
import { LIST_PATH } from './search-form.ts';

const path = '/user-groups/-/selection';
export const SELECTION_PATH = `/console${path}`;
/** Maximum number of concurrent changes. */
const CONCURRENCY = 10;

const actions = {
  suspend: {
    name: 'Suspend',
    effect:
      'Dashboards of these user groups show an error from the next request on, until they are resumed. They keep their tokens and all of their fields.',
    apply: suspendUserGroup,
    done: 'suspended',
    isDangerous: true,
  },
  resume: {
    name: 'Resume',
    effect: 'The same tokens resolve again.',
    apply: resumeUserGroup,
    done: 'resumed',
    isDangerous: false,
  },
} as const;
type Action = keyof typeof actions;
const ACTIONS = Object.keys(actions) as Action[];

/** Buttons below the list, for its checked rows. */
export const selectionButtons: Html = html`<div class="actions" id="selection"><button type="button" id="check-all" hidden>Check all</button>
${ACTIONS.map((action) => html`<button type="submit" name="action" value="${action}">${actions[action].name} checked</button>`)}
</div>`;

const shared = {
  method: 'POST',
  permissions: WRITERS,
  purpose: 'change user groups',
  onRejection: reviewView,
} as const satisfies Partial<Page>;

export const reviewSelection: Page = {
  ...shared,
  path,
  access: 'read',
  handle: async (call) => {
    if (call.form.has('id')) return reviewView(call);
    return { location: at(LIST_PATH, call), notice: 'No user group is checked, so nothing was done.' };
  },
};

/** Shows the groups as they are now; `problem` is why nothing was done with them. */
async function reviewView(call: PageCall, problem?: Problem): Promise<View> {
  const { name, effect, isDangerous } = actions[actionIn(call.form)];
  const { store } = call.context;
  const keys = idsIn(call.form).map((id) => store.userGroupKey(call.caller, id));
  const groups = await Promise.all(keys.map((key) => store.read({ kind: 'findUserGroup', key })));
  const found = groups.filter((group) => group !== null);
  return formView(call, at(`${SELECTION_PATH}/apply`, call), problem, {
    title: `${name} ${found.length} user ${found.length === 1 ? 'group' : 'groups'}`,
    text: html`<p>${effect}</p>
${groupTable(found)}
${found.length === groups.length ? '' : html`<p>Deleted or renamed in the meantime: ${groups.length - found.length} of those that you checked.</p>`}`,
    fields: html`${hidden('action', actionIn(call.form))}
${found.map((group) => html`${hidden('id', group.providedId)}${hidden('version', versionTag(group))}`)}`,
    button: name,
    isDangerous,
    back: at(LIST_PATH, call),
  });
}

export const applyToSelection: Page = {
  ...shared,
  path: `${path}/apply`,
  handle: async (call) => {
    const { context, caller, form } = call;
    const action = actionIn(form);
    const versions = form.texts('version');
    // Each change has an event of its own. A failure does not stop the others.
    const outcomes = await mapInChunks([...idsIn(form).entries()], CONCURRENCY, async ([index, id]) => {
      const version = requiredVersion(versions[index] ?? '');
      const reason = await actions[action].apply(context, caller, id, version).then(() => null, reasonOf);
      return { id, reason };
    });
    return outcomeView(action, outcomes, at(LIST_PATH, call));
  },
};

interface Outcome {
  id: string;
  /** null if it was changed. */
  reason: string | null;
}

const REASONS = new Map<ProblemCode, string>([
  ['version_mismatch', 'It was changed after you reviewed it.'],
  ['user_group_not_found', 'It was deleted or renamed after you reviewed it.'],
]);

function reasonOf(error: unknown): string {
  if (!(error instanceof Problem)) throw error;
  return REASONS.get(error.code) ?? error.message;
}

function outcomeView(action: Action, outcomes: readonly Outcome[], back: string): View {
  const { done } = actions[action];
  const failed = outcomes.filter(({ reason }) => reason !== null).length;
  return {
    title: `${outcomes.length - failed} of ${outcomes.length} ${done}`,
    ...(failed > 0 && { status: 207 }),
    main: html`${table(
      'User groups',
      ['Id', 'Result', 'Reason'],
      outcomes.map(({ id, reason }) => [
        userGroupLink(id),
        reason === null ? badge('good', done) : badge('bad', 'unchanged'),
        reason ?? '',
      ]),
    )}
<div class="actions">${buttonTo(back, 'Back to the list')}</div>`,
  };
}

function groupTable(groups: readonly UserGroup[]): Html {
  return table(
    'User groups',
    ['Id', 'Name', 'Status', 'Last seen'],
    groups.map((group) => [
      userGroupLink(group.providedId),
      group.name,
      statusBadge(group),
      time(group.lastSeenAt),
    ]),
  );
}

/** Returns the path with the conditions and the position of the list that the rows are from. */
function at(path: string, { query }: PageCall): string {
  return pageUrl(path, Object.fromEntries(query));
}

/** Throws `invalid_request`. */
function actionIn(form: Form): Action {
  const action = form.choice('action', ACTIONS);
  if (action === undefined) throw invalidField('/action', 'must be suspend or resume');
  return action;
}

/** Throws `invalid_request` without an id, or with more than a page has. */
function idsIn(form: Form): string[] {
  const ids = [...new Set(form.texts('id'))];
  if (ids.length === 0) throw invalidField('/id', 'is missing: check the user groups in the list first');
  if (ids.length > PAGE_SIZE) throw invalidField('/id', `may be given ${PAGE_SIZE} times at most`);
  return ids;
}
