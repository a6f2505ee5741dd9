// Changes as people read them: each changed field or member with its value before and after.

import { decodeString, JsonObject, type JsonTree, parseTree, treeText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type Html, html, joined, NO_HTML, table } from '../html.ts';
import { jsonBlock, jsonText } from '../json.ts';

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

/** `changes` has the format of events; see `memberChanges`. */
export function changeList(changes: JsonText): Change[] {
  return [...(parseTree(changes) as JsonObject).members].flatMap(([field, tree]) => {
    const change = tree as JsonObject;
    if (isPair(change)) return parseChange([field], change);
    return [...change.members].map(([member, pair]) => parseChange([field, member], pair as JsonObject));
  });
}

/** Whether the form of a user group can store the earlier value. */
export function isRestorable({ path, isTruncated }: Change): boolean {
  return !isTruncated && ['name', 'mapping', 'properties'].includes(path[0]!);
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

/** Whether this is the change of a whole field, rather than an object with the changes of its members. */
function isPair({ members }: JsonObject): boolean {
  return [...members.values()].some((value) => !(value instanceof JsonObject) || value.members.size === 0);
}

function parseChange(keys: readonly string[], { members }: JsonObject): Change {
  const text = (name: string) => {
    const value: JsonTree | undefined = members.get(name);
    return value === undefined ? undefined : treeText(value);
  };
  return {
    path: keys.map((key) => decodeString(key)),
    from: text('"from"'),
    to: text('"to"'),
    isTruncated: members.has('"truncated"'),
  };
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
