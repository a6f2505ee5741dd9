import { isPermitted } from '../../domain/api-token.ts';
import { decodeString } from '../../domain/json/json-tree.ts';
import { idViolation } from '../../domain/request-body.ts';
import { type UserGroup, valuesLength } from '../../domain/user-group/user-group.ts';
import { listEvents } from '../../operations/event/list.ts';
import { findNewId } from '../../operations/user-group/history.ts';
import { type Page as ListPage, listUserGroups } from '../../operations/user-group/list.ts';
import { demoOffer } from '../demo/create.ts';
import { countedFigures } from '../figures.ts';
import { actionForm } from '../form/fields.ts';
import {
  absent,
  alert,
  buttonTo,
  type Html,
  html,
  type Insertion,
  idCell,
  identifier,
  link,
  NO_HTML,
  none,
  pathTo,
  table,
  time,
  titleWith,
  userGroupLink,
} from '../markup/html.ts';
import { membersOf } from '../markup/json.ts';
import { pageUrl } from '../markup/pagination.ts';
import { type Page, type PageCall, READERS, unlessBusy, WRITERS } from '../page.ts';
import { CREATE_PATH } from './create.ts';
import { EXPORT_PATH } from './export.ts';
import { FIND_PATH } from './find.ts';
import { statusBadge } from './group.ts';
import {
  conditionTexts,
  listConditions,
  omittedColumns,
  propertyColumns,
  readSearch,
  type Search,
  STATUS,
  searchForm,
} from './search-form.ts';
import {
  isNothing,
  pageBounds,
  progressAfter,
  progressView,
  ROWS,
  statusText,
  stepIn,
} from './search-progress.ts';
import { SELECTION_PATH, selectionButtons } from './selection.ts';

export const list: Page = {
  method: 'GET',
  path: '/user-groups',
  permissions: READERS,
  purpose: 'list user groups',
  access: 'list',
  handle: async (call) => {
    const { context, caller, query, session } = call;
    const isWriter = isPermitted(caller, WRITERS);
    const search = readSearch(query);
    const step = stepIn(call);
    const [page, named] = await Promise.all([
      listUserGroups(context, caller, {
        ...listConditions(search),
        ...pageBounds(query, step),
        prefersNames: true,
      }),
      step.isContinued || query.has('cursor') ? null : findNamed(call, search),
    ]);
    const { shown: columns, omitted } = propertyColumns(search);
    if (columns.length > 0)
      await context.cpu.turn(page.userGroups.reduce((sum, each) => sum + valuesLength(each), 0));
    const progress = progressAfter(step, page);
    const lead = named === null || isListed(page, named) ? null : named;
    const deleted = isNothing(progress) ? await deletedText(call, search) : NO_HTML;
    const total = progress.isDone ? null : ((await countedFigures(call))?.userGroups ?? null);
    return {
      title: titleWith('User groups', conditionTexts(search)),
      heading: 'User groups',
      actions: html`${isWriter ? buttonTo(CREATE_PATH, 'Create', 'primary') : ''} ${buttonTo(FIND_PATH, 'Find by token')}`,
      main: html`${query.has('token_in_search') ? TOKEN_IN_SEARCH : ''}
${searchForm(search)}
<p id="${STATUS}" class="hidden" role="status">${lead === null ? '' : html`${leadText(lead)} `}${statusText(progress)}</p>
<div id="results">
${omittedColumns(omitted)}
${lead === null ? '' : html`<p>${leadText(lead, userGroupLink(lead.id))}</p>`}
${isWriter ? actionForm(session, pageUrl(SELECTION_PATH, { ...search, ...progress.place }), html`${results(page.userGroups, columns, true)}${selectionButtons}`) : results(page.userGroups, columns, false)}
<p class="export">${link(pageUrl(EXPORT_PATH, search), 'Export the whole list as CSV')}</p>
${progressView(search, progress, total, deleted)}
</div>
${progress.shown === 0 && query.size === 0 ? demoOffer(call) : ''}`,
    };
  },
};

const TOKEN_IN_SEARCH = alert(
  'That was a token. It was not searched for: use “Find by token”, and rotate the token if the address of the page was recorded somewhere.',
);

/** Hidden while it has no rows: a search may still find some. Properties replace the last column. */
function results(userGroups: readonly UserGroup[], columns: readonly string[], isWriter: boolean): Html {
  return table(
    'User groups',
    [
      ...(isWriter ? ['Select'] : []),
      'Id',
      'Name',
      ...columns,
      'Status',
      'Last seen',
      ...(columns.length === 0 ? ['Updated'] : []),
      ...(isWriter ? ['Action'] : []),
    ],
    userGroups.map((userGroup) => [
      ...(isWriter ? [checkBox(userGroup)] : []),
      idCell(pathTo('user-groups', userGroup.providedId), userGroup.providedId),
      userGroup.name,
      ...propertyCells(userGroup, columns),
      statusBadge(userGroup),
      time(userGroup.lastSeenAt),
      ...(columns.length === 0 ? [time(userGroup.updatedAt)] : []),
      ...(isWriter ? [editLink(userGroup)] : []),
    ]),
    undefined,
    { rowsId: ROWS, rowHeader: isWriter ? 1 : 0 },
  );
}

/** User group whose id is the text of the search, or was until a rename. */
interface NamedGroup {
  id: string;
  formerId: string | null;
}

async function findNamed({ context, caller }: PageCall, { search }: Search): Promise<NamedGroup | null> {
  if (idViolation(search) !== null) return null;
  const { store } = context;
  const [stored, newId] = await Promise.all([
    store.read({ kind: 'findUserGroup', key: store.userGroupKey(caller, search) }),
    findNewId(store, caller, search),
  ]);
  if (stored !== null) return { id: search, formerId: null };
  return newId === null ? null : { id: newId, formerId: search };
}

/** Says that the text of the search was the id of a user group until it was deleted, or that this is unknown. */
async function deletedText({ context, caller }: PageCall, { search }: Search): Promise<Html> {
  if (idViolation(search) !== null) return NO_HTML;
  const target = { type: 'user_group', id: search } as const;
  const page = await unlessBusy(listEvents(context, caller, { order: 'newest', limit: 1, target }));
  if (page === null) return none('The service is too busy to look for a deleted user group with this id.');
  if (page.events[0]?.type !== 'user_group.deleted') return NO_HTML;
  const events = link(pathTo('user-groups', search, 'events'), 'its events');
  return html`<p>A user group with the id ${identifier(search)} was deleted: see ${events}.</p>`;
}

function isListed({ userGroups }: ListPage, { id, formerId }: NamedGroup): boolean {
  return formerId === null && userGroups.some(({ providedId }) => providedId === id);
}

function leadText({ id, formerId }: NamedGroup, shownId = identifier(id)): Html {
  if (formerId === null) return html`A user group has exactly this id: ${shownId}.`;
  return html`A user group with the id ${identifier(formerId)} was renamed to ${shownId}.`;
}

const SHOWN_CHARACTERS = 40;

/** Shows texts without quotes, and other values as JSON. */
function propertyCells({ properties }: UserGroup, columns: readonly string[]): Insertion[] {
  if (columns.length === 0) return [];
  const members = membersOf(properties);
  return columns.map((name) => {
    const json = members.get(name);
    if (json === undefined) return absent('none');
    const text = json[0] === '"' ? decodeString(json) : json;
    return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS).toWellFormed()}…`;
  });
}

function checkBox({ providedId }: UserGroup): Html {
  return html`<input type="checkbox" name="id" value="${providedId}" aria-label="Select ${providedId}">`;
}

function editLink({ providedId }: UserGroup): Html {
  return link(`${pathTo('user-groups', providedId)}/edit`, 'Edit', providedId);
}
