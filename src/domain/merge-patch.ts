// JSON Merge Patch (RFC 7396) on the exact text: what a patch does not touch stays digit for digit and key for key,
// which values that were parsed and printed again would not.

import { checkBytes, invalidField, type UserGroupFields } from './body.ts';
import { limits } from './field.ts';
import { type JsonText, membersOf } from './strict-json.ts';
import type { UserGroup } from './user-group.ts';

/**
 * The fields of the patch as they are once it is merged into the stored ones. Throws `invalid_request` where they
 * exceed a limit then.
 */
export function mergeFields(stored: UserGroup, patch: UserGroupFields): UserGroupFields {
  const merged = { ...patch };
  for (const field of ['mapping', 'properties'] as const) {
    const text = patch[field];
    if (!text) continue;
    merged[field] = mergePatch(stored[field], text);
    const entries = membersOf(merged[field]).size;
    if (entries > limits.mapEntries) {
      const detail = `must have at most ${limits.mapEntries} entries and would have ${entries}`;
      throw invalidField(`/${field}`, detail);
    }
  }
  checkBytes(merged);
  return merged;
}

/**
 * Members of the target keep their places, new ones follow them in the order of the patch. The result is no deeper
 * than the deeper of the two. `target` is null where there is none.
 */
export function mergePatch(target: JsonText | null, patch: JsonText): JsonText {
  if (!isObject(patch)) return patch;
  const members = new Map(target !== null && isObject(target) ? membersOf(target) : []);
  for (const [key, value] of membersOf(patch)) {
    if (value === 'null') members.delete(key);
    else members.set(key, mergePatch(members.get(key) ?? null, value));
  }
  return objectOf(members);
}

function isObject(text: JsonText): boolean {
  return text.startsWith('{');
}

function objectOf(members: ReadonlyMap<string, JsonText>): JsonText {
  const texts = Array.from(members, ([key, value]) => `${JSON.stringify(key)}:${value}`);
  return `{${texts.join(',')}}` as JsonText;
}
