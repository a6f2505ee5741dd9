// Notices after a redirect: keys of fixed texts.

import { type Html, html, NO_HTML } from './html.ts';

/** Parameter in the location of a redirect, and in the query that a page gets; never in an address, see `flash.ts`. */
export const NOTICE = 'done';

/** Returns the location of a redirect to `path`, which then shows the notice with this key. */
export function withNotice(path: string, key: string): string {
  return `${path}?${NOTICE}=${key}`;
}

/** Renders the notice that the query names; empty if there is none. */
export function notice(query: URLSearchParams, texts: Readonly<Record<string, string>>): Html {
  const text = new Map(Object.entries(texts)).get(query.get(NOTICE) ?? '');
  return text === undefined ? NO_HTML : doneNotice(text);
}

/** Says what was done. It has the focus, so that screen readers begin with it. */
export function doneNotice(text: string): Html {
  return html`<div class="notice" role="status" tabindex="-1" autofocus><p>${text}</p></div>`;
}
