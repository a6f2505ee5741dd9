// The groups of one workspace and environment as lines that an import takes. A group that is there all the time is
// exported once, whatever is created, changed and deleted meanwhile.

import { type Position, positionAfter, startOf, type UserGroupList } from '../domain/cursor.ts';
import type { KeyRing } from '../domain/key-ring.ts';
import type { UserGroup } from '../domain/user-group.ts';
import type { BatchedStore } from '../store/batched-store.ts';
import type { QueryResult } from '../store/store.ts';
import { openStoredToken } from './stored-token.ts';

/** What is in memory at one time. */
const PAGE = { limit: 256, maxBytes: 1024 * 1024 };

/**
 * Lists of lines, in the order of the groups' ids. Without a key ring they have no tokens. Throws
 * `StoredTokenUnreadable` and `StoreUnavailable`.
 */
export async function* exportLines(
  store: BatchedStore,
  { workspaceId, environment }: Pick<UserGroup, 'workspaceId' | 'environment'>,
  keyRing: KeyRing | null,
): AsyncGenerator<string[]> {
  const list: UserGroupList = { workspaceId, environment, search: '' };
  let from: Position | null = startOf(list);
  while (from !== null) {
    const { userGroups, isEnd }: QueryResult<'searchUserGroups'> = await store.read({
      kind: 'searchUserGroups',
      list,
      from,
      ...PAGE,
    });
    yield userGroups.map((userGroup) => lineOf(userGroup, keyRing));
    from = isEnd ? null : positionAfter('id', userGroups.at(-1)!);
  }
}

function lineOf(userGroup: UserGroup, keyRing: KeyRing | null): string {
  const { providedId, name, mapping, properties } = userGroup;
  const token =
    keyRing === null ? '' : `,"token":${JSON.stringify(openStoredToken(userGroup, keyRing).reveal())}`;
  return (
    `{"user_group_id":${JSON.stringify(providedId)},"name":${JSON.stringify(name)},` +
    `"mapping":${mapping},"properties":${properties}${token}}\n`
  );
}
