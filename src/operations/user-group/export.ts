// Exports the groups of one workspace and environment as lines in the import format. A group that exists throughout
// the export under the same id is exported exactly once, regardless of concurrent creations, changes and deletions.

import { jsonText, objectText, textMembers } from '../../domain/json/json-tree.ts';
import type { KeyRing } from '../../domain/key-ring.ts';
import { type Tenant, tenantOf } from '../../domain/tenant.ts';
import { listStart, positionAfter } from '../../domain/user-group/cursor.ts';
import { settableTexts, type UserGroup } from '../../domain/user-group/user-group.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import { openStoredToken } from '../database/open-stored-token.ts';
import { pagesAfter } from '../pages.ts';

/** Size of a page, which bounds the memory of the export. */
const PAGE = { limit: 256, maxBytes: 1024 * 1024 };

/**
 * Yields batches of lines, ordered by the ids of the groups. Without a key ring, the lines have no tokens. Throws
 * `StoredTokenUnreadable` or `StoreUnavailable`.
 */
export async function* exportLines(
  store: BatchingStore,
  tenant: Tenant,
  keyRing: KeyRing | null,
): AsyncGenerator<string[]> {
  for await (const page of allUserGroupPages(store, tenant))
    yield page.map((userGroup) => exportedLine(userGroup, keyRing));
}

/** Yields all groups of an environment, ordered by id, in constant memory. */
export function allUserGroupPages(store: BatchingStore, tenant: Tenant): AsyncGenerator<UserGroup[]> {
  const list = { ...tenantOf(tenant), search: '' };
  return pagesAfter<UserGroup>(null, async (last) => {
    const from = last === null ? listStart(list) : positionAfter('id', last);
    return (await store.read({ kind: 'listUserGroups', list, from, ...PAGE })).userGroups;
  });
}

function exportedLine(userGroup: UserGroup, keyRing: KeyRing | null): string {
  const { providedId, suspendedAt } = userGroup;
  const line = objectText([
    ['user_group_id', jsonText(providedId)],
    ...textMembers(settableTexts(userGroup)),
    // A group that is not suspended has no member instead of false, so that earlier versions import the line.
    ['suspended', suspendedAt === null ? undefined : jsonText(true)],
    ['token', keyRing === null ? undefined : jsonText(openStoredToken(userGroup, keyRing).reveal())],
  ]);
  return `${line}\n`;
}
