// Notices after a redirect. The URL has only a key of a fixed text, which prevents content injection by a link.

import { type Html, html, NO_HTML } from './html.ts';

const NAME = 'done';

/** To `path`, which then shows the notice with this key. */
export function withNotice(path: string, key: string): string {
  return `${path}?${NAME}=${key}`;
}

/** Empty if there is none. */
export function notice(query: URLSearchParams, texts: Readonly<Record<string, string>>): Html {
  const text = new Map(Object.entries(texts)).get(query.get(NAME) ?? '');
  return text === undefined ? NO_HTML : html`<div class="notice" role="status"><p>${text}</p></div>`;
}
