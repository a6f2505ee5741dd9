// JSON Merge Patch (RFC 7396) on the exact text: unchanged members keep their digits and the order of their keys, which
// parsing and serializing would not preserve.

import { limits, properties } from '../field.ts';
import { checkBytes, invalidField } from '../request-body.ts';
import type { UserGroup } from '../user-group/user-group.ts';
import type { UserGroupFields } from '../user-group/user-group-body.ts';
import { JsonObject, type JsonTree, parseTree, treeText } from './json-tree.ts';
import type { JsonText } from './strict-json.ts';

/**
 * Merges the fields of the patch into the stored ones. Throws `invalid_request` if the result exceeds a
 * limit.
 */
export function mergeFields(stored: UserGroup, patch: UserGroupFields): UserGroupFields {
  const merged = { ...patch };
  for (const field of ['mapping', 'properties'] as const) {
    const text = patch[field];
    if (!text) continue;
    const result = mergePatch(stored[field], text);
    merged[field] = result.text;
    if (result.entries > limits.mapEntries) {
      const detail = `must have at most ${limits.mapEntries} entries and would have ${result.entries}`;
      throw invalidField(`/${field}`, detail);
    }
  }
  checkBytes('properties', merged.properties, properties);
  return merged;
}

interface Merged {
  text: JsonText;
  /** Members of the result; 0 if it is not an object. */
  entries: number;
}

/**
 * Members of the target, null if nothing is stored, keep their order; new ones follow in the order of the patch. The
 * result is at most as deep as the deeper of the two.
 */
export function mergePatch(target: JsonText | null, patch: JsonText): Merged {
  const parts: string[] = [];
  const entries = writeMerged(parts, target === null ? null : parseTree(target), parseTree(patch));
  return { text: parts.join('') as JsonText, entries };
}

function writeMerged(parts: string[], target: JsonTree | null, patch: JsonTree): number {
  if (!(patch instanceof JsonObject)) {
    parts.push(treeText(patch));
    return 0;
  }
  const members = target instanceof JsonObject ? target.members : new Map<string, JsonTree>();
  let entries = 0;
  parts.push('{');
  for (const [key, value] of members) {
    const change = patch.members.get(key);
    if (change === 'null') continue;
    parts.push(entries++ === 0 ? '' : ',', key, ':');
    if (change === undefined) parts.push(treeText(value));
    else writeMerged(parts, value, change);
  }
  for (const [key, value] of patch.members) {
    if (value === 'null' || members.has(key)) continue;
    parts.push(entries++ === 0 ? '' : ',', key, ':');
    writeMerged(parts, null, value);
  }
  parts.push('}');
  return entries;
}
