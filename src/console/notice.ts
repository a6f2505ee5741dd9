// What a person is told after a redirect: a fixed text for the key in the URL, so that a link cannot put words on a page.

import { html } from './html.ts';

const NAME = 'done';

/** To `path`, which then shows the notice with this key. */
export function withNotice(path: string, key: string): string {
  return `${path}?${NAME}=${key}`;
}

/** Empty if there is none. */
export function notice(query: URLSearchParams, texts: Readonly<Record<string, string>>): string {
  const key = query.get(NAME) ?? '';
  if (!Object.hasOwn(texts, key)) return '';
  return html`<div class="notice" role="status"><p>${texts[key]}</p></div>`;
}
