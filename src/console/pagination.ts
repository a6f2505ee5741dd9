// Lists, page by page: the cursor is in the URL.

import { buttonTo, type Html, html, NO_HTML } from './html.ts';

export const PAGE_SIZE = 50;

/** The page at the cursor in the URL, otherwise the first one. */
export function pageQuery(query: URLSearchParams, limit = PAGE_SIZE): { limit: number; cursor?: string } {
  const cursor = query.get('cursor');
  return { limit, ...(cursor && { cursor }) };
}

/** Cursors of the pages before this one, in the URL: lists can only be read forwards. */
export const TRAIL = 'pages';
/** The first page, in the trail. */
const FIRST = '-';
const MAX_TRAIL = 20;

/**
 * Links to the next and the previous page, if there are such. `query` is what the URL has, with the cursor of this page;
 * empty values are left out. `progress` is for the next page only.
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

/** The trail of the pages after the one at the cursor. */
export function extendedTrail(query: Readonly<Record<string, string>>): string {
  return [...readTrail(query), query.cursor || FIRST].slice(-MAX_TRAIL).join(',');
}

function readTrail(query: Readonly<Record<string, string>>): string[] {
  return (query[TRAIL] ?? '').split(',').filter((each) => each !== '');
}

/** A link to the previous page; without a trail, such as from a shared link, to the first one. */
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

/** Empty values are left out. */
export function pageUrl(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
