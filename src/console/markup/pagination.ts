// Lists, page by page: the cursor is in the URL.

import { buttonTo, type Html, html, NO_HTML } from './html.ts';

export const PAGE_SIZE = 50;

/** Returns the bounds of the page at the cursor in the URL, or of the first page. */
export function pageQuery(query: URLSearchParams, limit = PAGE_SIZE): { limit: number; cursor?: string } {
  const cursor = query.get('cursor');
  return { limit, ...(cursor && { cursor }) };
}

/** URL parameter with the cursors of the pages before this one: lists can only be read forwards. */
export const TRAIL = 'pages';
/** Stands for the first page in the trail. */
const FIRST = '-';
const MAX_TRAIL = 20;

/**
 * Links to the next and the previous page, if there is one. `query` has the parameters of the URL, including
 * the cursor of this page; empty ones are left out. `progress` is added to the link to the next page only.
 */
export function nextPage(
  path: string,
  cursor: string | null,
  query: Readonly<Record<string, string>>,
  text = 'Next page',
  progress: Readonly<Record<string, string>> = {},
): Html {
  const previous = previousPage(path, query, readTrail(query));
  if (cursor === null && previous === NO_HTML) return NO_HTML;
  const next =
    cursor === null
      ? NO_HTML
      : buttonTo(pageUrl(path, { ...query, ...progress, cursor, [TRAIL]: extendedTrail(query) }), text);
  return html`<nav class="pages" aria-label="Pages">${previous} ${next}</nav>`;
}

/** Parameters of the place in a list, and of a search there: cursors are those of one environment. */
const PLACE = ['cursor', TRAIL, 'start', 'searched', 'found', 'shown'];

/** Returns the address of the first page of a list, from that of any page. */
export function firstPage(url: string): string {
  const [path, query] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  for (const name of PLACE) parameters.delete(name);
  return parameters.size === 0 ? path! : `${path}?${parameters}`;
}

/** Returns the trail of the page after the one at the cursor. */
export function extendedTrail(query: Readonly<Record<string, string>>): string {
  return [...readTrail(query), query.cursor || FIRST].slice(-MAX_TRAIL).join(',');
}

function readTrail(query: Readonly<Record<string, string>>): string[] {
  return (query[TRAIL] ?? '').split(',').filter((each) => each !== '');
}

/** Links to the previous page; without a trail, such as after a shared link, to the first one. */
function previousPage(path: string, query: Readonly<Record<string, string>>, trail: readonly string[]): Html {
  if (!query.cursor) return NO_HTML;
  const last = trail.at(-1) ?? FIRST;
  const url = pageUrl(path, {
    ...query,
    cursor: last === FIRST ? '' : last,
    [TRAIL]: trail.slice(0, -1).join(','),
  });
  return buttonTo(url, trail.length === 0 ? 'First page' : 'Previous page');
}

/** Leaves out empty values. */
export function pageUrl(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
