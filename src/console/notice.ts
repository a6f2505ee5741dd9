// What a person is told after a redirect: a fixed text for the key in the URL, so that a link cannot put words on a page.

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
