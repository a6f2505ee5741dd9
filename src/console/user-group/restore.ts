// Shows a review that takes back what an event has changed in a user group: all of it, or one field. Nothing
// is stored before the person saves it.

import type { Caller } from '../../domain/api-token.ts';
import { bucketOfTarget, type StoredEvent } from '../../domain/event/event.ts';
import { decodeString, EMPTY_OBJECT, objectText } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { type SettableFields, valuesLength } from '../../domain/user-group/user-group.ts';
import { httpStatus } from '../../http/response/problem.ts';
import type { Context } from '../../operations/context.ts';
import { findIdAt } from '../../operations/user-group/history.ts';
import { Problem } from '../../problem.ts';
import { type Change, changeList, isRestorable } from '../event/changes.ts';
import { membersOf } from '../markup/json.ts';
import { type Page, type PageCall, WRITERS } from '../page.ts';
import { openedView } from './edit.ts';
import { groupIn } from './group.ts';
import { reviewView } from './review.ts';

export const restore: Page = {
  method: 'GET',
  path: '/user-groups/:user_group_id/restore',
  permissions: WRITERS,
  purpose: 'update user groups',
  handle: async (call) => {
    const stored = await groupIn(call);
    const changes = await changesIn(call, stored.providedId);
    await call.context.cpu.turn(valuesLength(stored));
    const fields = changes.reduce<SettableFields>(takeBack, stored);
    try {
      return await reviewView(call, { stored, fields });
    } catch (error) {
      if (!(error instanceof Problem) || httpStatus(error) !== 422) throw error;
      return { ...(await openedView(call, stored, fields, error)), status: 422 };
    }
  },
};

/** Returns the changes of the event in the query, or only the named one. Throws `not_found` if there is none. */
async function changesIn({ context, caller, query }: PageCall, id: string): Promise<Change[]> {
  const event = await findEvent(context, caller, id, Number(query.get('position')));
  const all = changeList(event?.changes ?? null);
  const path = query.get('field');
  const changes = all.filter(
    (change) => isRestorable(change) && (path === null || JSON.stringify(change.path) === path),
  );
  if (changes.length > 0) return changes;
  throw new Problem(
    'not_found',
    'This event has no values that can be restored: they were removed, or were too large to be recorded.',
  );
}

/** Returns an event of the group, even from before a rename. */
async function findEvent(
  { store }: Context,
  caller: Caller,
  id: string,
  position: number,
): Promise<StoredEvent | null> {
  const idThen = Number.isSafeInteger(position) ? await findIdAt(store, caller, id, position) : null;
  if (idThen === null) return null;
  const target = { type: 'user_group', id: idThen } as const;
  const { workspaceId, environment } = caller;
  const bucket = bucketOfTarget(caller, target);
  return store.read({ kind: 'findEvent', key: { bucket, workspaceId, environment, target, position } });
}

function takeBack(fields: SettableFields, change: Change): SettableFields {
  const field = change.path[0] as keyof SettableFields;
  switch (field) {
    case 'name':
      return { ...fields, name: decodeString(change.from!) };
    case 'mapping':
    case 'properties':
      return { ...fields, [field]: earlierObject(fields[field], change) };
    default:
      return field satisfies never;
  }
}

function earlierObject(current: JsonText | null, { path: [, member], from, to }: Change): JsonText | null {
  if (member === undefined) return from === 'null' ? null : from!;
  if (current === null && from === undefined) return null;
  const [before, after] = [from, to].map((value) => objectText([[member, value]]));
  return earlierValue(current ?? EMPTY_OBJECT, before, after)!;
}

/** Returns the value before the change. Of two objects, an event has only what differs, at any depth. */
function earlierValue(
  current: JsonText | undefined,
  from: JsonText | undefined,
  to: JsonText | undefined,
): JsonText | undefined {
  const [members, before, after] = [current, from, to].map(
    (text): Map<string, JsonText | undefined> | null => (text?.[0] === '{' ? membersOf(text) : null),
  );
  if (!members || !before || !after) return from;
  for (const name of new Set([...before.keys(), ...after.keys()]))
    members.set(name, earlierValue(members.get(name), before.get(name), after.get(name)));
  return objectText(members);
}
