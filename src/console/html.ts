// Elements that several pages have.

import { type Html, html, type Insertion, joined, NO_HTML } from '../http/response/html.ts';

export { type Html, html, type Insertion, joined, NO_HTML };

/** A link to another page of the console. */
export function link(path: string, text: string): Html {
  return html`<a href="${path}">${text}</a>`;
}

/** The same as a button. */
export function buttonTo(path: string, text: string): Html {
  return html`<a class="button" href="${path}">${text}</a>`;
}

/** Text in the place of something that is absent. */
export function none(text: string): Html {
  return html`<p class="none">${text}</p>`;
}

/** Message of an error, announced by screen readers; `more` follows it. */
export function alert(message: string, more: Html = NO_HTML): Html {
  return html`<div class="problem" role="alert"><p>${message}</p>${more}</div>`;
}

/** The path of a page, with each part percent-encoded. */
export function pathTo(...parts: readonly (string | number)[]): string {
  return ['/console', ...parts.map((part) => encodeURIComponent(part))].join('/');
}

export function time(instant: number | null, otherwise = 'never'): Html {
  if (instant === null) return html`<span class="none">${otherwise}</span>`;
  const text = new Date(instant).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

export function definitions(rows: readonly (readonly [name: string, value: Insertion])[]): Html {
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/**
 * On a phone, each cell is shown with the name of its column. `ifEmpty` is shown instead of a table without rows. `rowsId`
 * is for rows that a script adds.
 */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Insertion[])[],
  ifEmpty?: string,
  rowsId?: string,
): Html {
  if (rows.length === 0 && ifEmpty !== undefined) return none(ifEmpty);
  return html`<div class="table"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody${rowsId === undefined ? '' : html` id="${rowsId}"`}>${rows.map(
    (
      cells,
    ) => html`<tr>${cells.map((cell, index) => html`<td data-label="${columns[index]!}">${cell}</td>`)}</tr>
`,
  )}</tbody>
</table></div>`;
}

/** The text is shown in a fixed-width font, as it is. */
export function code(text: string): Html {
  return html`<pre><code>${text}</code></pre>`;
}

export function badge(kind: 'good' | 'bad' | 'neutral', text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}
