// The fields of a user group for a merge: its name, and each first-level member of its mapping and its properties.

import { limits } from '../../domain/field.ts';
import { decodeString, objectText } from '../../domain/json/json-tree.ts';
import { type JsonText, parseStrictJson } from '../../domain/json/strict-json.ts';
import { type SettableFields, settableTexts } from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';
import type { Change } from '../event/changes.ts';
import { type Difference, type Fields, type Merge, threeWayMerge } from '../form/merge.ts';
import { membersOf } from '../markup/json.ts';

export type GroupMerge = Merge<SettableFields, Change>;

const OBJECTS = ['mapping', 'properties'] as const;
/** Says that the object is not null, independently of its members. */
const PRESENT = '{}';

export function mergeGroup(
  base: SettableFields | null,
  mine: SettableFields,
  stored: SettableFields,
): GroupMerge {
  const { fields, conflicts, others, own } = threeWayMerge(
    base && membersOfGroup(base),
    membersOfGroup(mine),
    membersOfGroup(stored),
  );
  const merged = groupOfMembers(fields);
  // Keeps the order of members that the person chose.
  for (const name of OBJECTS) if (base?.[name] === stored[name]) merged[name] = mine[name];
  return {
    fields: merged,
    conflicts: conflicts.map(formChange),
    others: others.map(formChange),
    own: own.map(formChange),
  };
}

/** Returns the fields with the stored values of `names`, which are written as in the form of a conflict. */
export function withStored(
  fields: SettableFields,
  stored: SettableFields,
  names: readonly string[],
): SettableFields {
  const [members, before] = [new Map(membersOfGroup(fields)), membersOfGroup(stored)];
  for (const name of names) {
    const value = before.get(name);
    if (value === undefined) members.delete(name);
    else members.set(name, value);
  }
  return names.length === 0 ? fields : groupOfMembers(members);
}

export function nameOfChange({ path }: Change): string {
  return JSON.stringify(path);
}

/** Returns the text of a hidden field. */
export function textOfGroup(group: SettableFields): string {
  return objectText(Object.entries(settableTexts(group)).map(([name, text]) => [name, text ?? undefined]));
}

/** Returns null if the text is not one that `textOfGroup` returns. */
export function groupOfText(text: string): SettableFields | null {
  try {
    const { members } = parseStrictJson(Buffer.from(text), limits.propertiesLevels + 1);
    const name = members.get('name');
    if (name?.[0] !== '"') return null;
    const [mapping = null, properties = null] = OBJECTS.map((each) => members.get(each) ?? null);
    if ([mapping, properties].some((object) => membersOf(object).size > limits.mapEntries)) return null;
    return { name: decodeString(name), mapping, properties };
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

function membersOfGroup(group: SettableFields): Fields {
  const members = new Map([[JSON.stringify(['name']), JSON.stringify(group.name)]]);
  for (const field of OBJECTS) {
    const text = group[field];
    if (text?.[0] !== '{') continue;
    members.set(JSON.stringify([field]), PRESENT);
    for (const [name, value] of membersOf(text)) members.set(JSON.stringify([field, name]), value);
  }
  return members;
}

function groupOfMembers(members: Fields): SettableFields & { mapping: JsonText | null } {
  const objects = new Map<string, [string, JsonText][]>();
  let name = '';
  for (const [path, value] of members) {
    const [field = '', key] = JSON.parse(path) as [string, string?];
    if (field === 'name') name = decodeString(value);
    else if (!objects.has(field)) objects.set(field, []);
    if (key !== undefined) objects.get(field)!.push([key, value as JsonText]);
  }
  const objectIn = (field: string) => {
    const found = objects.get(field);
    return found === undefined ? null : objectText(found);
  };
  return { name, mapping: objectIn('mapping'), properties: objectIn('properties') };
}

function formChange({ name, from, to }: Difference): Change {
  return {
    path: JSON.parse(name) as string[],
    from: from as JsonText | undefined,
    to: to as JsonText | undefined,
    isTruncated: false,
  };
}
