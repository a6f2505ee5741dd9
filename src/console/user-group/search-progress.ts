// A search of many user groups proceeds in steps, and each shows how far it has come. With JavaScript the
// next step starts by itself and adds its rows to the page; without, a link leads to it.

import { isAboutProperty } from '../../domain/user-group/user-group-filter.ts';
import { DEFAULT_SCAN, type ScanBounds } from '../../operations/user-group/filtered-page.ts';
import type { Page as ListPage, ListQuery } from '../../operations/user-group/list.ts';
import { withSeparators } from '../markup/chart.ts';
import { type Html, html, link, none } from '../markup/html.ts';
import { extendedTrail, nextPage, PAGE_SIZE, pageQuery, pageUrl, TRAIL } from '../markup/pagination.ts';
import type { PageCall } from '../page.ts';
import { conditionTexts, LIST_PATH, type Search, STATUS } from './search-form.ts';

/** The first step is as fast as any page. */
const FIRST_STEP: ScanBounds = { ...DEFAULT_SCAN, read: 500, searched: 2_000 };
/** A step after a click; shorter with JavaScript, where people watch the progress. */
const CLICKED_STEP: ScanBounds = {
  read: Number.POSITIVE_INFINITY,
  searched: Number.POSITIVE_INFINITY,
  ms: 500,
};
const SCRIPTED_STEP: ScanBounds = { ...CLICKED_STEP, ms: 200 };

/** Ids of elements that htmx and console.js find. */
export const ROWS = 'rows';
const SEARCH_FORM = 'form.search';

/** Progress of the earlier steps, which the URL of the page carries. */
interface Step {
  /** Rows that the page has already. */
  shown: number;
  /** Rows of the pages before it. */
  found: number;
  searched: number;
  /** Cursors of the page, where a step may begin later, and of the pages before it. */
  place: Readonly<Record<'cursor' | typeof TRAIL, string>>;
  /** Whether this step continues a search. */
  isContinued: boolean;
  isScripted: boolean;
}

/** Reads the step from the URL. A scripted step adds rows to the page; any other is a page of its own. */
export function stepIn({ query, request }: PageCall): Step {
  const isScripted = request.headers['hx-request'] === 'true';
  const shown = Math.min(countIn(query, 'shown'), PAGE_SIZE - 1);
  const found = countIn(query, 'found');
  const common = { searched: countIn(query, 'searched'), isContinued: query.has('shown'), isScripted };
  const start = { cursor: query.get('start') ?? '', [TRAIL]: query.get(TRAIL) ?? '' };
  if (isScripted && common.isContinued) return { ...common, shown, found, place: start };
  const trail = shown === 0 ? start[TRAIL] : extendedTrail(start);
  const place = { cursor: query.get('cursor') ?? '', [TRAIL]: trail };
  return { ...common, shown: 0, found: found + shown, place };
}

function countIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** Returns the part of the list that the step reads. */
export function pageBounds(
  query: URLSearchParams,
  { shown, isContinued, isScripted }: Step,
): Pick<ListQuery, 'limit' | 'cursor' | 'scan'> {
  const nextStep = isScripted ? SCRIPTED_STEP : CLICKED_STEP;
  return { ...pageQuery(query), limit: PAGE_SIZE - shown, scan: isContinued ? nextStep : FIRST_STEP };
}

/** Progress of a search after a step, whose rows are `shown`. */
interface Progress extends Step {
  /** null at the end of the list. */
  nextCursor: string | null;
  /** Whether the page has no room for more rows, or the list has no more. */
  isDone: boolean;
}

export function progressAfter(step: Step, { userGroups, scanned, nextCursor }: ListPage): Progress {
  const shown = step.shown + userGroups.length;
  const isDone = nextCursor === null || shown >= PAGE_SIZE;
  return { ...step, shown, searched: step.searched + scanned, nextCursor, isDone };
}

/** Text for screen readers, in an element of its own, so that they do not read the list. */
export function statusText({ shown, found, isDone, nextCursor }: Progress): string {
  if (!isDone) return 'Searching…';
  if (nextCursor !== null) return `${shown} user groups on this page, and more follow`;
  const more = found === 0 ? '' : 'more ';
  return shown === 1 ? `1 ${more}user group` : `${shown} ${more}user groups`;
}

/**
 * Shows the next step or page below the rows. `total`: approximate number of user groups; null if unknown.
 * `ifNothing` follows the text in place of a result.
 */
export function progressView(
  search: Search,
  progress: Progress,
  total: number | null,
  ifNothing: Html,
): Html {
  const step = progress.isDone ? done(search, progress, ifNothing) : goingOn(search, progress, total);
  return html`<div id="search-progress" tabindex="-1">
<div id="search-step">${step}</div>
<button type="button" id="search-stop" hidden>Stop</button>
</div>`;
}

function done(search: Search, progress: Progress, ifNothing: Html): Html {
  const { shown, found, searched, place, nextCursor } = progress;
  if (isNothing(progress)) return html`${nothing(search)}${ifNothing}`;
  const counts = { searched: String(searched), found: String(found + shown) };
  const pages = nextPage(LIST_PATH, nextCursor, { ...search, ...place }, undefined, counts);
  return shown === 0 ? html`${none(noMoreText(found))}${pages}` : pages;
}

/** Whether the whole search found nothing. Unknown without its earlier steps, such as after a link to a page. */
export function isNothing({ shown, found, place, isContinued, isDone }: Progress): boolean {
  const hasBegun = isContinued || place.cursor === '';
  return isDone && shown === 0 && found === 0 && place[TRAIL] === '' && hasBegun;
}

function nothing(search: Search): Html {
  const conditions = conditionTexts(search);
  if (conditions.length === 0) return none('There are no user groups here yet.');
  const text = `No user group here meets these conditions: ${conditions.join(', ')}.`;
  const all = html`<p>${link(pageUrl(LIST_PATH, { columns: search.columns }), 'Show all user groups')}</p>`;
  if (search.search === '' || isAboutProperty(search.search)) return html`${none(text)}${all}`;
  const inProperties = pageUrl(LIST_PATH, { ...search, search: `*: ${search.search}`, match: '' });
  return html`${none(`${text} ${PROPERTY_HINT}`)}<p>${link(inProperties, 'Search the values of all properties')}</p>${all}`;
}

const PROPERTY_HINT =
  'Only ids and names were searched: to search for a property, write its name, a colon, a space and its value, such as plan: gold.';

function noMoreText(found: number): string {
  const text = 'No more user groups meet these conditions';
  if (found === 0) return `${text}.`;
  return `${text}: ${found === 1 ? '1 was' : `${withSeparators(found)} were`} found on the pages before.`;
}

/** Shows the link even if the next step starts by itself: it remains if that step fails or is stopped. */
function goingOn(search: Search, progress: Progress, total: number | null): Html {
  const { shown, found, searched, place, nextCursor } = progress;
  const url = pageUrl(LIST_PATH, {
    ...search,
    searched: String(searched),
    found: String(found),
    shown: String(shown),
    start: place.cursor,
    [TRAIL]: place[TRAIL],
    cursor: nextCursor!,
  });
  const attributes = html`hx-get="${url}" hx-trigger="load, click" hx-target="#search-step" hx-select="#search-step" hx-swap="outerHTML" hx-select-oob="#${ROWS}:beforeend,#${STATUS}:innerHTML" hx-sync="${SEARCH_FORM}:queue last"`;
  return html`<p>${searchedText(progress, total)}</p>
${total === null ? '' : html`<progress aria-label="Searched user groups" value="${Math.min(searched, total)}" max="${Math.max(total, 1)}"></progress>`}
<p><a class="button" id="search-on" href="${url}" ${attributes}>Continue searching</a></p>
${shown === 0 && found === 0 ? '' : nextPage(LIST_PATH, null, { ...search, ...place })}`;
}

function searchedText({ shown, found, searched }: Progress, total: number | null): string {
  const all = total === null || total < searched ? '' : ` of about ${withSeparators(total)}`;
  const rows = found + shown;
  const result = rows === 0 ? 'none found yet' : `${withSeparators(rows)} found so far`;
  return `Searched ${withSeparators(searched)}${all} user groups: ${result}.`;
}
