// The changes of an event in two forms.
//
// Stored: `{"from": …, "to": …, "truncated": …}`. Both sides have only what differs, at the depth at which it differs, so
// that a small change of a large group is a small event. `truncated` names what differs but does not fit into the bound
// of an event. Earlier versions stored whole fields; they ignore `truncated`.
//
// The form that callers see: `{"properties": {"plan": {"from": …, "to": …}, "report": {"truncated": true}}}`.

import { joinMembers, jsonText, memberTexts, NULL, objectText, splitMembers } from '../json/json-tree.ts';
import type { JsonText } from '../json/strict-json.ts';
import { type SettableFields, settableTexts, type UserGroup } from '../user-group/user-group.ts';
import { type Difference, listDifferences, objectOfFields, type Texts, truncated } from './difference.ts';
import { fitted } from './fit.ts';

/** Texts by name; names need no escapes in JSON. */
type Fields = Readonly<Record<string, JsonText | null>>;
type GroupFields = SettableFields & Pick<UserGroup, 'suspendedAt'>;

/** Maximum size of changes that take no more space than the other columns of an event. */
export const SMALL_BYTES = 256;
const TRUE = 'true' as JsonText;

/** The changes from `before`, null if there was nothing, to `after`. */
export class Changes {
  readonly #before: Fields | null;
  readonly #after: Fields;
  /** The fields whose texts differ. */
  readonly #names: readonly string[];
  #whole: JsonText | null = null;
  #compared: readonly Difference[] | null = null;

  constructor(before: Fields | null, after: Fields) {
    this.#before = before;
    this.#after = after;
    // A field that only one side has is null on the other.
    const all = before === null ? after : { ...after, ...before };
    this.#names = Object.keys(all).filter((name) => (before?.[name] ?? null) !== (after[name] ?? null));
  }

  /** Returns the stored form, reduced to `maxBytes`; null if nothing differs. */
  within(maxBytes: number): JsonText | null {
    if (this.#names.length === 0) return null;
    if (this.#storesWhole(maxBytes)) return this.whole;
    return storedForm(this.#before === null, fitted(this.#listDifferences(), maxBytes));
  }

  /** Compares the values beforehand, so that `within` is fast. Returns the size of what it has compared. */
  compare(): number {
    if (this.#before === null || this.#storesWhole(SMALL_BYTES)) return 0;
    this.#listDifferences();
    return this.whole.length;
  }

  #listDifferences(): readonly Difference[] {
    this.#compared ??= listDifferences(this.#fieldTexts(this.#before), this.#fieldTexts(this.#after));
    return this.#compared;
  }

  /** A creation has nothing to compare with. For small fields, comparing costs more than it saves. */
  #storesWhole(maxBytes: number): boolean {
    const bytes = this.#before === null ? maxBytes : Math.min(maxBytes, SMALL_BYTES);
    return this.whole.length <= bytes && Buffer.byteLength(this.whole) <= bytes;
  }

  /** The stored form of the fields as they are. */
  get whole(): JsonText {
    this.#whole ??=
      `{"from":${wholeSide(this.#names, this.#before)},"to":${wholeSide(this.#names, this.#after)}}` as JsonText;
    return this.#whole;
  }

  #fieldTexts(fields: Fields | null): Texts {
    return new Map(fields === null ? [] : this.#names.map((name) => [`"${name}"`, fields[name] ?? NULL]));
  }
}

/** The changes between two versions of a group; `before` is null for a new one. */
export function userGroupChanges(before: GroupFields | null, after: GroupFields): Changes {
  return before === null
    ? new Changes(null, settableTexts(after))
    : new Changes(withSuspension(before), withSuspension(after));
}

function withSuspension(group: GroupFields): Fields {
  return { ...settableTexts(group), suspended: jsonText(group.suspendedAt !== null) };
}

function wholeSide(names: readonly string[], fields: Fields | null): JsonText {
  return fields === null ? NULL : joinMembers(names.map((name) => `"${name}":${fields[name] ?? NULL}`));
}

function storedForm(isNew: boolean, differences: readonly Difference[]): JsonText {
  const marked = differences.filter(({ isTruncated }) => isTruncated);
  return objectText([
    ['from', isNew ? NULL : objectOfFields(differences, ({ from }) => from)],
    ['to', objectOfFields(differences, ({ to }) => to)],
    ['truncated', marked.length === 0 ? undefined : objectOfFields(marked, () => TRUE)],
  ]);
}

/** The stored changes as callers see them. A member that is absent before or after has no `from` or `to`. */
export function memberChanges(changes: JsonText): JsonText {
  return objectOfFields(listChanges(changes), changeText);
}

/** Lists the stored changes, field by field. Omitted members of a field replace the change of the field. */
export function listChanges(changes: JsonText): Difference[] {
  const parts = splitMembers(changes);
  const [from, to, marks] = ['"from"', '"to"', '"truncated"'].map((part) => memberTexts(parts.get(part)));
  const all = [...listDifferences(from!, to!), ...truncatedBy(marks!)];
  return [...Map.groupBy(all, ({ field }) => field).values()].flatMap((ofField) => {
    const ofMembers = ofField.filter(({ member }) => member !== null);
    return ofMembers.length > 0 ? ofMembers : ofField;
  });
}

function truncatedBy(marks: Texts): Difference[] {
  return [...marks].flatMap(([field, mark]) =>
    mark === TRUE
      ? truncated({ field, member: null })
      : [...splitMembers(mark).keys()].map((member) => truncated({ field, member })),
  );
}

/** `{"truncated":true}` cannot be mistaken for a pair, which has only `from` and `to`. */
function changeText({ isTruncated, from, to }: Difference): JsonText {
  if (isTruncated) return `{"truncated":true}` as JsonText;
  return objectText(Object.entries({ from, to }));
}
