// The conditions of the list of user groups, and the form to choose them.

import { limits } from '../../domain/field.ts';
import { startOfDay } from '../../domain/instant.ts';
import { invalidFields } from '../../domain/user-group/user-group-filter.ts';
import type { ListQuery } from '../../operations/user-group/list.ts';
import { choiceField, filterField, labelOfField, textField } from '../form/fields.ts';
import { trimmed } from '../form/form.ts';
import { bdi, type Html, html, isolated, joined, NO_HTML, pathTo } from '../markup/html.ts';

export const LIST_PATH = pathTo('user-groups');
/** Id of the element that tells screen readers how far the search has come. */
export const STATUS = 'search-status';

/** Conditions as typed, in the URL of the page, so that a list can be shared and the browser can go back. */
export type Search = Readonly<Record<(typeof NAMES)[number], string>>;
const NAMES = [
  'search',
  'match',
  'data_source',
  'suspended',
  'seen',
  'seen_before',
  'created_since',
  'invalid',
  'columns',
] as const;

export function readSearch(query: URLSearchParams): Search {
  return Object.fromEntries(NAMES.map((name) => [name, conditionText(query.get(name) ?? '')])) as Search;
}

/** Leaves its own result as it is: links to the next page contain it, and their cursors are valid only for it. */
function conditionText(typed: string): string {
  const text = [...typed.trim()].slice(0, limits.textCodePoints).join('');
  return trimmed(withoutQuotes(trimmed(text)));
}

const JSON_MEMBER = /^"([^"]+)":\s*("[^"]+"|[\w.+-]+),?$/;
const JSON_STRING = /^(.+: )?"([^"]+)",?$/;

/** Returns a string, or a member such as `"plan": "gold"`, without the quotes that it has in JSON. */
function withoutQuotes(text: string): string {
  return text.replace(JSON_MEMBER, '$1: $2').replace(JSON_STRING, '$1$2');
}

export function listConditions({
  search,
  match,
  data_source,
  suspended,
  seen,
  ...others
}: Search): Omit<ListQuery, 'limit'> {
  const seenBefore = startOfDay(others.seen_before);
  const createdSince = startOfDay(others.created_since);
  const invalid = invalidFields.find((field) => field === others.invalid);
  return {
    ...(search !== '' && { search, match: match === 'prefix' ? match : 'contains' }),
    ...(data_source !== '' && { dataSource: data_source }),
    ...(/^(yes|no)$/.test(suspended) && { suspended: suspended === 'yes' }),
    ...(seen === 'never' && { neverSeen: true }),
    ...(seenBefore !== null && { seenBefore }),
    ...(createdSince !== null && { createdSince }),
    ...(invalid !== undefined && { invalid }),
  };
}

/** Returns the conditions that are valid, as a person reads them in a title or a sentence. */
export function conditionTexts(conditions: Search): string[] {
  const { search, match, dataSource, suspended, neverSeen, seenBefore, createdSince, invalid } =
    listConditions(conditions);
  return [
    search && `${isolated(search)}${match === 'prefix' ? ' at the start' : ''}`,
    dataSource && `data source ${isolated(dataSource)}`,
    suspended !== undefined && (suspended ? 'suspended' : 'not suspended'),
    neverSeen && 'never seen',
    seenBefore !== undefined && `not seen since ${conditions.seen_before} (UTC)`,
    createdSince !== undefined && `created since ${conditions.created_since} (UTC)`,
    invalid !== undefined && `invalid ${invalid}`,
  ].filter((text) => typeof text === 'string');
}

/** Maximum number of properties with a column of their own. */
const MAX_COLUMNS = 5;

/** Splits the typed names of properties into those that the list shows and those that are too many. */
export function propertyColumns({ columns }: Search): { shown: string[]; omitted: string[] } {
  const typed = columns.split(',').map((name) => name.trim());
  const names = [...new Set(typed)].filter((name) => name !== '');
  return { shown: names.slice(0, MAX_COLUMNS), omitted: names.slice(MAX_COLUMNS) };
}

export function omittedColumns(names: readonly string[]): Html {
  if (names.length === 0) return NO_HTML;
  return html`<p>No column for ${joined(names.map(bdi), ', ')}: a list has at most ${MAX_COLUMNS}.</p>`;
}

/**
 * Updates the list while the person types: a new search ends the one before. Without JavaScript, the button
 * submits the form.
 */
export function searchForm(search: Search): Html {
  const { data_source, seen_before, created_since, columns } = search;
  const isFiltered = NAMES.some((name) => name !== 'search' && search[name] !== '');
  return html`<form class="search" role="search" method="get" action="${LIST_PATH}" autocomplete="off" hx-get="${LIST_PATH}" hx-trigger="input delay:200ms, submit" hx-target="#results" hx-select="#results" hx-select-oob="#${STATUS}:innerHTML" hx-swap="outerHTML" hx-sync="this:replace" hx-replace-url="true">
${filterField({ name: 'search', label: 'Id or name', placeholder: 'a part, or a property (plan: gold)', value: search.search, type: 'search' })}
<details ${isFiltered ? 'open' : ''}><summary>Filters</summary><div class="filters">
${choice(search, 'match')}
${filterField({ name: 'data_source', placeholder: 'id or number', value: data_source })}
${choice(search, 'suspended')}
${choice(search, 'seen')}
${textField({ name: 'seen_before', label: 'Not seen since (UTC)', value: seen_before, type: 'date' })}
${textField({ name: 'created_since', label: 'Created since (UTC)', value: created_since, type: 'date' })}
${choice(search, 'invalid', 'Breaks a rule')}
${filterField({ name: 'columns', label: 'Properties as columns', placeholder: 'such as plan, seats', value: columns })}
</div></details>
<button type="submit">Search</button>
</form>`;
}

/** Texts of the choices of a condition by their values. */
const choices = {
  match: { '': 'anywhere', prefix: 'from the start' },
  suspended: { '': 'yes or no', yes: 'yes', no: 'no' },
  seen: { '': 'ever or never', never: 'never' },
  invalid: { '': 'yes or no', mapping: 'the mapping', properties: 'the properties' },
} as const satisfies Partial<Record<keyof Search, object>>;

function choice(search: Search, name: keyof typeof choices, label = labelOfField(name)): Html {
  return choiceField({ name, label, value: search[name], choices: Object.entries(choices[name]) });
}
