// Templates. `html` escapes every value; `!${…}` inserts HTML, which only templates and the functions of this folder
// return.

export { html } from 'ghtml';

import { html } from 'ghtml';

/** A link to another page of the console. */
export function link(path: string, text: string): string {
  return html`<a href="${path}">${text}</a>`;
}

/** The path of a page, with each part percent-encoded. */
export function pathTo(...parts: readonly (string | number)[]): string {
  return ['/console', ...parts.map((part) => encodeURIComponent(part))].join('/');
}

export function time(instant: number | null, otherwise = 'never'): string {
  if (instant === null) return html`<span class="none">${otherwise}</span>`;
  const text = new Date(instant).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Rows of a name and HTML. */
export function definitions(rows: readonly (readonly [name: string, value: string])[]): string {
  return html`<dl>!${rows.map(([name, value]) => html`<dt>${name}</dt><dd>!${value}</dd>`)}</dl>`;
}

/** `rows` are cells of HTML. On a phone, each cell is shown with the name of its column. */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return html`<div class="table"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>!${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>!${rows.map(
    (
      cells,
    ) => html`<tr>!${cells.map((cell, index) => html`<td data-label="${columns[index]!}">!${cell}</td>`)}</tr>
`,
  )}</tbody>
</table></div>`;
}

/** The text is shown in a fixed-width font, as it is. */
export function code(text: string): string {
  return html`<pre><code>${text}</code></pre>`;
}

export function badge(kind: 'good' | 'bad' | 'neutral', text: string): string {
  return html`<span class="badge ${kind}">${text}</span>`;
}
