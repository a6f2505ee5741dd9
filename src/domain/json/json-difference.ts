// The difference between two documents, in time linear in their size.

import { JsonObject, type JsonTree, joinMembers, parseTree, sameTree, treeText } from './json-tree.ts';
import type { JsonText } from './strict-json.ts';

/** Values may be unparsed: most equal ones never need to be parsed. */
type Members = JsonObject['members'];

/** A value before and after a change; undefined: absent. */
export interface Pair {
  readonly from: JsonText | undefined;
  readonly to: JsonText | undefined;
}

/** A member that differs. Its name includes the quotes. */
interface MemberPair extends Pair {
  readonly name: string;
}

/** Reduces two objects to the members that differ, at any depth. Returns null if the values are the same. */
export function smallestPair(from: JsonTree | undefined, to: JsonTree | undefined): Pair | null {
  if (from === undefined || to === undefined) return { from: from && treeText(from), to: to && treeText(to) };
  const whole = { from: treeText(from), to: treeText(to) };
  if (whole.from === whole.to) return null;
  if (isStructure(whole.from) !== isStructure(whole.to)) return whole;
  const [before, after] = [parsed(from), parsed(to)];
  if (before instanceof JsonObject && after instanceof JsonObject) {
    const pairs = memberPairs(before.members, after.members);
    return pairs.length === 0 ? null : { from: pairSide('from', pairs), to: pairSide('to', pairs) };
  }
  return sameTree(before, after) ? null : whole;
}

/** Whether the text is an object or a list, without parsing it. */
function isStructure(text: JsonText): boolean {
  return text.startsWith('{') || text.startsWith('[');
}

function parsed(value: JsonTree): JsonTree {
  return typeof value === 'string' ? parseTree(value) : value;
}

/** Returns the smallest pair of each member that differs: those of `from` in their order, then new ones. */
export function memberPairs(from: Members, to: Members): MemberPair[] {
  const pairs: MemberPair[] = [];
  for (const [name, value] of from) {
    const pair = smallestPair(value, to.get(name));
    if (pair !== null) pairs.push({ name, from: pair.from, to: pair.to });
  }
  for (const [name, value] of to) {
    if (!from.has(name)) pairs.push({ name, from: undefined, to: treeText(value) });
  }
  return pairs;
}

/** Returns the object with the members of one side. */
function pairSide(side: keyof Pair, pairs: readonly MemberPair[]): JsonText {
  return joinMembers(
    pairs.filter((pair) => pair[side] !== undefined).map((pair) => `${pair.name}:${pair[side]}`),
  );
}
