import { isPermitted } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import { parseInstant } from '../../domain/instant.ts';
import type { UserGroup } from '../../domain/user-group/user-group.ts';
import { type ListQuery, listUserGroups } from '../../operations/user-group/list.ts';
import { demoOffer } from '../demo/create.ts';
import { choiceField, textField } from '../fields.ts';
import { alert, badge, buttonTo, type Html, html, link, pathTo, table, time } from '../html.ts';
import { notice } from '../notice.ts';
import { type Page, READERS, WRITERS } from '../page.ts';
import { nextPage, pageOf } from '../pagination.ts';
import { CREATE_PATH } from './create.ts';
import { FIND_PATH } from './find.ts';

const PATH = pathTo('user-groups');

/** The conditions as typed, in the URL of the page: so that a list can be shared and the browser can go back. */
type Search = Readonly<Record<(typeof NAMES)[number], string>>;
const NAMES = ['search', 'match', 'data_source', 'suspended', 'seen_before'] as const;

export const list: Page = {
  method: 'GET',
  path: '/user-groups',
  permissions: READERS,
  purpose: 'list user groups',
  access: 'list',
  handle: async (call) => {
    const { context, caller, query } = call;
    const search = searchOf(query);
    const { userGroups, nextCursor } = await listUserGroups(context, caller, {
      ...conditionsOf(search),
      ...pageOf(query),
    });
    return {
      title: 'User groups',
      main: html`<h1>User groups</h1>
${notice(query, NOTICES)}
<div class="actions">${isPermitted(caller, WRITERS) ? buttonTo(CREATE_PATH, 'Create') : ''} ${buttonTo(FIND_PATH, 'Find by token')}</div>
${query.has('token_in_search') ? TOKEN_IN_SEARCH : ''}
${searchForm(search)}
<div id="results" aria-live="polite">
${results(userGroups)}
${nextPage(PATH, nextCursor, { ...search })}
</div>
${userGroups.length === 0 && query.size === 0 ? demoOffer(call) : ''}`,
    };
  },
};

const NOTICES = { deleted: 'The user group was deleted. Its token is no longer valid.' } as const;

const TOKEN_IN_SEARCH = alert(
  'That was a token. It was not searched for: use “Find by token”, and rotate the token if the address of the page was recorded somewhere.',
);

function searchOf(query: URLSearchParams): Search {
  const text = (name: string) => (query.get(name) ?? '').slice(0, limits.textCodePoints);
  return Object.fromEntries(NAMES.map((name) => [name, text(name)])) as Search;
}

function conditionsOf({
  search,
  match,
  data_source,
  suspended,
  seen_before,
}: Search): Omit<ListQuery, 'limit'> {
  const seenBefore = seen_before === '' ? null : parseInstant(`${seen_before}T00:00:00Z`);
  return {
    ...(search !== '' && { search, ...(match === 'contains' && { match }) }),
    ...(data_source !== '' && { dataSource: data_source }),
    ...(/^(yes|no)$/.test(suspended) && { suspended: suspended === 'yes' }),
    ...(seenBefore !== null && { seenBefore }),
  };
}

/** With JavaScript the list follows the typing; without, the button submits the form. */
function searchForm({ search, match, data_source, suspended, seen_before }: Search): Html {
  return html`<form class="search" role="search" method="get" action="${PATH}" data-find-by-token="${FIND_PATH}" hx-get="${PATH}" hx-trigger="input delay:200ms, submit" hx-target="#results" hx-select="#results" hx-swap="outerHTML" hx-replace-url="true">
${textField({ name: 'search', label: 'Id or name', value: search, type: 'search' })}
${choiceField({
  name: 'match',
  label: 'Match',
  value: match,
  choices: [
    ['', 'from the start'],
    ['contains', 'anywhere'],
  ],
})}
<details ${data_source + suspended + seen_before === '' ? '' : 'open'}><summary>Filters</summary><div class="filters">
${textField({ name: 'data_source', label: 'Data source', value: data_source })}
${choiceField({
  name: 'suspended',
  label: 'Suspended',
  value: suspended,
  choices: [
    ['', 'yes or no'],
    ['yes', 'yes'],
    ['no', 'no'],
  ],
})}
${textField({ name: 'seen_before', label: 'Not seen since', value: seen_before, type: 'date' })}
</div></details>
<button type="submit" class="primary">Search</button>
</form>`;
}

function results(userGroups: readonly UserGroup[]): Html {
  return table(
    'User groups',
    ['Id', 'Name', 'Status', 'Last seen', 'Updated'],
    userGroups.map((userGroup) => [
      link(pathTo('user-groups', userGroup.providedId), userGroup.providedId),
      userGroup.name,
      userGroup.suspendedAt === null ? badge('good', 'active') : badge('bad', 'suspended'),
      time(userGroup.lastSeenAt),
      time(userGroup.updatedAt),
    ]),
    'No user group here meets these conditions.',
  );
}
