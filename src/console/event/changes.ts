// Changes as people read them: each changed field or member with its value before and after.

import { listChanges } from '../../domain/event/changes.ts';
import { decodeString } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { settableFields } from '../../domain/user-group/user-group.ts';
import { type Html, html, joined, NO_HTML, table } from '../markup/html.ts';
import { jsonBlock, jsonText } from '../markup/json.ts';

export interface Change {
  /** The field, and the member of it that changed, if it is an object. */
  path: readonly string[];
  /** undefined: absent. */
  from: JsonText | undefined;
  to: JsonText | undefined;
  /** Whether the event has no room for the values. */
  isTruncated: boolean;
}

const SHORT_CHARACTERS = 120;

export function changeList(changes: JsonText | null): Change[] {
  if (changes === null) return [];
  return listChanges(changes).map(({ field, member, from, to, isTruncated }) => ({
    path: [field, member].filter((key) => key !== null).map(decodeString),
    from,
    to,
    isTruncated,
  }));
}

/** Whether the form of a user group can store the earlier value. */
export function isRestorable({ path, isTruncated }: Change): boolean {
  return !isTruncated && settableFields.some((field) => field === path[0]);
}

export function changesTable(
  changes: readonly Change[],
  columns: readonly [before: string, after: string] = ['Before', 'After'],
  more?: { name: string; cellOf(change: Change): Html },
): Html {
  return table(
    'Changes',
    ['Field', ...columns, ...(more ? [more.name] : [])],
    changes.map((change) => [
      pathText(change.path),
      valueText(change.from),
      valueText(change.to),
      ...(more ? [more.cellOf(change)] : []),
    ]),
  );
}

/** Renders changes in a table cell. `isNew`: all fields were absent before. `renderLinks` follows each change. */
export function changesText(
  changes: readonly Change[],
  isNew: boolean,
  renderLinks: (change: Change) => Html = () => NO_HTML,
): Html {
  return html`<ul class="changes">${changes.map(
    (change) =>
      html`<li>${pathText(change.path)}: ${transitionText(change, isNew)}${renderLinks(change)}</li>
`,
  )}</ul>`;
}

function transitionText({ from, to, isTruncated }: Change, isNew: boolean): Html {
  if (isTruncated) return html`<span class="none">values omitted, too large</span>`;
  return html`${isNew ? '' : html`${valueText(from)} → `}${valueText(to)}`;
}

function pathText(path: readonly string[]): Html {
  return joined(
    path.map((name) => html`<code>${name}</code>`),
    ' › ',
  );
}

function valueText(value: JsonText | undefined): Html {
  if (value === undefined) return html`<span class="none">absent</span>`;
  if (value.length <= SHORT_CHARACTERS) return html`<code>${jsonText(value)}</code>`;
  return html`<details><summary><code>${jsonText(value.slice(0, SHORT_CHARACTERS).toWellFormed())}…</code></summary>${jsonBlock(value)}</details>`;
}
