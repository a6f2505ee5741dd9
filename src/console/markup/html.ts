// Elements that several pages share.

import { Html, html, type Insertion, joined, NO_HTML } from '../../http/response/html.ts';

export { Html, html, type Insertion, joined, NO_HTML };

/** Longest word that columns and buttons keep in one piece, in characters. */
const WORD = 24;
const LONG_WORD = new RegExp(String.raw`\S{${WORD + 1}}`);
const WHOLE = new RegExp(String.raw`^[\x20-\x7e]{1,${WORD}}$`);
/** Ids of other characters, such as those that combine or run from right to left, cannot be cut anywhere. */
const CUTTABLE = new RegExp(String.raw`^[\x20-\x7e]{${WORD + 1},}$`);
/** Number of characters shown from the end of a long id, which often distinguishes ids. */
const END = 8;

export const BEYOND_ASCII = /[^\0-\x7f]/;

/** Isolates a stored value within a sentence: right-to-left text does not reorder the words around it. */
export function bdi(text: string): Html {
  return BEYOND_ASCII.test(text) ? html`<bdi>${text}</bdi>` : html`${text}`;
}

/** Does the same in text without markup, such as a title or an option. */
export function isolated(text: string): string {
  return BEYOND_ASCII.test(text) ? `\u2068${text}\u2069` : text;
}

/** Name and id in text without markup; the id alone if it is the name. */
export function nameWithId(name: string, id: string): string {
  return name === id ? id : `${isolated(name)} (${isolated(id)})`;
}

/** Title of a list, with the conditions that it meets. */
export function titleWith(title: string, conditions: readonly string[]): string {
  return conditions.length === 0 ? title : `${title}: ${conditions.join(', ')}`;
}

/** Isolates each part of a JSON Pointer. */
export function pointerText(pointer: string): Html {
  return joined(pointer.split('/').map(bdi), '/');
}

/** Links to another page of the console. `object`: see `labelOf`. */
export function link(path: string, text: string, object?: string): Html {
  return html`<a href="${path}"${wrapping(text)}${labelOf(text, object)}>${text}</a>`;
}

/** Returns an attribute that names the object too, where several links of a page have the same text. */
export function labelOf(text: string, object: string | undefined): Html {
  return object === undefined ? NO_HTML : html` aria-label="${text} ${object}"`;
}

/** Returns an attribute for an element whose text may break anywhere; empty if it need not. */
function wrapping(text: Insertion): Html {
  return typeof text === 'string' && LONG_WORD.test(text) ? html` class="long"` : NO_HTML;
}

/** Lets a name break anywhere if it contains a long word. */
export function breakable(name: string): Html {
  return LONG_WORD.test(name) ? html`<span class="long">${name}</span>` : html`${name}`;
}

/** Invisible characters, except for those within emoji and words: ids that differ only in one look the same. */
const INVISIBLE = /([\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff])/;

/** Names each invisible character of an id beside it, by the style of the page: the text of the id is unchanged. */
export function visible(id: string): Html {
  const parts = id.split(INVISIBLE);
  return html`${parts.map((part, index) => (index % 2 === 0 ? html`${part}` : invisible(part)))}`;
}

function invisible(character: string): Html {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return html`<span class="invisible" title="U+${code}">${character}</span>`;
}

/**
 * Renders an id, complete for scripts and screen readers; hides its middle where there is too little room. A
 * browser that translates the page keeps it.
 */
export function identifier(id: string): Html {
  if (WHOLE.test(id)) return html`<span class="id whole" translate="no">${id}</span>`;
  if (!CUTTABLE.test(id))
    return html`<span class="${LONG_WORD.test(id) ? 'id long' : 'id'}" translate="no">${visible(id)}</span>`;
  return html`<span class="id cut" translate="no" title="${id}"><span class="start">${id.slice(0, -END)}</span><span>${id.slice(-END)}</span></span>`;
}

/** Links to what has the id. Without the label, screen readers would read a cut id as two words. */
export function idLink(path: string, id: string): Html {
  const label = CUTTABLE.test(id) ? html` aria-label="${id}"` : '';
  return html`<a href="${path}"${label}>${identifier(id)}</a>`;
}

export type ButtonKind = 'primary' | 'danger' | 'plain';

/** Renders a link as a button. `danger`: the action is irreversible, or breaks what uses the object. */
export function buttonTo(path: string, text: string, kind: ButtonKind = 'plain'): Html {
  return html`<a class="button ${kind}" href="${path}">${text}</a>`;
}

/** Copies the text; hidden without JavaScript. `what` completes the name of the button: "Copy …". */
export function copyButton(text: string, what: string): Html {
  return html`<button type="button" class="copy" data-copy="${text}" aria-label="Copy ${what}" hidden></button>`;
}

/** Renders an id in a list, with a button that copies it; `path` is null if it has no page. */
export function idCell(path: string | null, id: string): Html {
  return html`${path === null ? identifier(id) : idLink(path, id)}${copyButton(id, id)}`;
}

/** Renders the heading of a page or of a section, with its actions beside it. */
export function headingWith(title: string | Html, actions: Html, level: 1 | 2 = 1): Html {
  const text = html`<h${level}>${title}</h${level}>`;
  if (actions.markup === '') return text;
  return html`<div class="head">${text}<div class="actions">${actions}</div></div>`;
}

/** Text in place of something that is absent. */
export function none(text: string): Html {
  return html`<p class="none">${text}</p>`;
}

/** Text in place of an absent value of a field, which cards leave out. */
export function absent(text: string): Html {
  return html`<span class="none absent">${text}</span>`;
}

/** Error message, focused so that screen readers begin with it; `more` follows it. */
export function alert(message: string, more: Html = NO_HTML): Html {
  return html`<div class="problem summary" role="alert" tabindex="-1" autofocus><p>${message}</p>${more}</div>`;
}

const DOTS = /^~*\.{1,2}$/;

/** Returns the percent-encoded path of a page. Puts `~` before `.` and `..`, which browsers would remove. */
export function pathTo(...parts: readonly (string | number)[]): string {
  const encoded = parts.map((part) => encodeURIComponent(DOTS.test(String(part)) ? `~${part}` : part));
  return ['/console', ...encoded].join('/');
}

/** Returns the id that a decoded part of a path stands for; the reverse of `pathTo`. */
export function idInPath(part: string): string {
  return part[0] === '~' && DOTS.test(part) ? part.slice(1) : part;
}

export function userGroupLink(id: string): Html {
  return idLink(pathTo('user-groups', id), id);
}

export function time(instant: number | null, otherwise = 'never'): Html {
  if (instant === null) return absent(otherwise);
  const text = new Date(instant).toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Shows the last use of a token, which is recorded to the hour. */
export function lastUse(instant: number | null): Html {
  return instant === null ? time(null) : html`${time(instant)}, to the hour`;
}

export function definitions(rows: readonly (readonly [name: Insertion, value: Insertion])[]): Html {
  return html`<dl>${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

interface TableOptions {
  /** Id for scripts that add rows. */
  rowsId?: string;
  /** Index of the column that names the row; screen readers repeat it before the other cells. */
  rowHeader?: number;
}

/**
 * Renders a table. On a small screen, each row is a card: its header is the title, and every other cell shows
 * the name of its column, unless it is empty. `ifEmpty` replaces a table without rows.
 */
export function table(
  caption: string,
  columns: readonly string[],
  rows: readonly (readonly Insertion[])[],
  ifEmpty?: string,
  { rowsId, rowHeader = 0 }: TableOptions = {},
): Html {
  if (rows.length === 0 && ifEmpty !== undefined) return none(ifEmpty);
  return html`<div class="table"><table>
<caption class="hidden">${caption}</caption>
<thead><tr>${columns.map((name) => html`<th scope="col"${wrapping(name)}>${name}</th>`)}</tr></thead>
<tbody${rowsId === undefined ? '' : html` id="${rowsId}"`}>${rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, index) => tableCell(columns[index]!, cell, index === rowHeader))}</tr>
`,
  )}</tbody>
</table></div>`;
}

function tableCell(column: string, cell: Insertion, isHeader: boolean): Html {
  return isHeader
    ? html`<th scope="row" data-label="${column}"${wrapping(cell)}${headerLabel(cell)}>${cell}</th>`
    : html`<td data-label="${column}"${wrapping(cell)}>${cell}</td>`;
}

/** Returns the text of a header as its label if it has a button that copies it, whose label repeats the text. */
function headerLabel(cell: Insertion): Html {
  if (!Html.is(cell) || !cell.markup.includes('data-copy')) return NO_HTML;
  const text = cell.markup.replace(/<p\b/g, ' $&').replace(/<[^>]*>/g, '');
  return html` aria-label="${new Html(text)}"`;
}

/** Shows the text unchanged in a fixed-width font. */
export function code(text: string | Html): Html {
  return html`<pre><code>${text}</code></pre>`;
}

export function badge(kind: 'good' | 'warning' | 'bad' | 'neutral', text: string): Html {
  return html`<span class="badge ${kind}">${text}</span>`;
}
