// The changes of an event in two forms.
//
// Stored: `{"from": …, "to": …, "truncated": …}`. Both sides have only what differs, at the depth at which it differs, so
// that a small change of a large group is a small event. `truncated` names what differs but does not fit into the bound
// of an event. Earlier versions stored whole fields; they ignore `truncated`.
//
// As callers see them: `{"properties": {"plan": {"from": …, "to": …}, "report": {"truncated": true}}}`.

import {
  type Difference,
  differencesOf,
  membersOf,
  NO_MEMBERS,
  objectOfFields,
  truncated,
} from './event-difference.ts';
import { fitted } from './event-fit.ts';
import { type Members, objectOf } from './json-difference.ts';
import { type JsonObject, treeOf } from './json-tree.ts';
import type { JsonText } from './strict-json.ts';
import type { UserGroup } from './user-group.ts';

type Fields = Readonly<Record<string, JsonText | null>>;
type GroupFields = Pick<UserGroup, 'name' | 'mapping' | 'properties' | 'suspendedAt'>;

const NULL = 'null' as JsonText;
const TRUE = 'true' as JsonText;

/** The changes from `before`, null if there was nothing, to `after`. */
export class Changes {
  readonly #before: Fields | null;
  readonly #after: Fields;
  /** The fields whose texts differ. */
  readonly #names: readonly string[];
  #whole: JsonText | null = null;

  constructor(before: Fields | null, after: Fields) {
    this.#before = before;
    this.#after = after;
    this.#names = Object.keys(after).filter((name) => (before?.[name] ?? null) !== after[name]);
  }

  /** In the stored form, reduced to so many bytes; null if nothing differs. */
  within(maxBytes: number): JsonText | null {
    if (this.#names.length === 0) return null;
    const isNew = this.#before === null;
    if (isNew && Buffer.byteLength(this.whole) <= maxBytes) return this.whole;
    const differences = differencesOf(this.#trees(this.#before), this.#trees(this.#after));
    return storedForm(isNew, fitted(differences, maxBytes));
  }

  /** The stored form of a creation with all its values: there is nothing to compare them with. */
  get whole(): JsonText {
    this.#whole ??= wholeForm(this.#names, this.#after);
    return this.#whole;
  }

  #trees(fields: Fields | null): Members {
    if (fields === null) return NO_MEMBERS;
    return new Map(this.#names.map((name) => [`"${name}"`, treeOf(fields[name] ?? NULL)]));
  }
}

/** The changes between two versions of a group; `before` is null for a new one. */
export function userGroupChanges(before: GroupFields | null, after: GroupFields): Changes {
  if (before !== null) return new Changes(fieldsOf(before), fieldsOf(after));
  const { suspended, ...created } = fieldsOf(after);
  return new Changes(null, created);
}

function fieldsOf({ name, mapping, properties, suspendedAt }: GroupFields) {
  return {
    name: JSON.stringify(name) as JsonText,
    mapping,
    properties,
    suspended: (suspendedAt === null ? 'false' : 'true') as JsonText,
  } satisfies Fields;
}

function wholeForm(names: readonly string[], fields: Fields): JsonText {
  return `{"from":null,"to":${objectOf(names.map((name) => `"${name}":${fields[name]}`))}}` as JsonText;
}

function storedForm(isNew: boolean, differences: readonly Difference[]): JsonText {
  const marked = differences.filter(({ isTruncated }) => isTruncated);
  return objectOf([
    `"from":${isNew ? NULL : objectOfFields(differences, ({ from }) => from)}`,
    `"to":${objectOfFields(differences, ({ to }) => to)}`,
    ...(marked.length === 0 ? [] : [`"truncated":${objectOfFields(marked, () => TRUE)}`]),
  ]);
}

/** The stored changes as callers see them. A member that is absent before or after has no `from` or `to`. */
export function memberChanges(changes: JsonText): JsonText {
  const { members } = treeOf(changes) as JsonObject;
  const [from, to, marks] = ['"from"', '"to"', '"truncated"'].map((part) => membersOf(members.get(part)));
  return objectOfFields([...differencesOf(from!, to!), ...truncatedBy(marks!)], changeText);
}

function truncatedBy(marks: Members): Difference[] {
  return [...marks].flatMap(([field, mark]) =>
    mark === TRUE
      ? truncated({ field, member: null })
      : [...membersOf(mark).keys()].map((member) => truncated({ field, member })),
  );
}

/** `{"truncated":true}` cannot be a pair: that has only `from` and `to`. */
function changeText({ isTruncated, from, to }: Difference): JsonText {
  if (isTruncated) return `{"truncated":true}` as JsonText;
  return objectOf([
    ...(from === undefined ? [] : [`"from":${from}`]),
    ...(to === undefined ? [] : [`"to":${to}`]),
  ]);
}
