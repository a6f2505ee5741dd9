// Lists, page by page: the cursor is in the URL.

import { buttonTo, type Html, html, NO_HTML } from './html.ts';

export const PAGE_SIZE = 50;

/** The page at the cursor in the URL, otherwise the first one. */
export function pageQuery(query: URLSearchParams): { limit: number; cursor?: string } {
  const cursor = query.get('cursor');
  return { limit: PAGE_SIZE, ...(cursor && { cursor }) };
}

/** A link, if there is a next page. `query` is what the URL has besides the cursor; empty values are left out. */
export function nextPage(
  path: string,
  cursor: string | null,
  query: Readonly<Record<string, string>> = {},
  text = 'Next page',
): Html {
  if (cursor === null) return NO_HTML;
  return html`<nav class="pages" aria-label="Pages">${buttonTo(pageUrl(path, { ...query, cursor }), text)}</nav>`;
}

/** Empty values are left out. */
export function pageUrl(path: string, query: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
