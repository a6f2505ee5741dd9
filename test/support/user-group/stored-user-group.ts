// Writes user groups directly to the database: thousands of them in a second.

import { createHash } from 'node:crypto';
import type { TokenDigest } from '../../../src/domain/token.ts';
import { type UserGroup, userGroupKey } from '../../../src/domain/user-group/user-group.ts';
import type { BatchingStore } from '../../../src/store/batching-store.ts';

/**
 * Number of user groups per statement: with more, and large properties, it would exceed its time limit on a
 * busy machine.
 */
const BATCH = 100;
/** Team ids beyond those that tests lease. */
let teamId = 1_000_000;

/** Stores user groups of a workspace, in `Customer`, by id. Each differs from a default by these fields. */
export async function storeUserGroups(
  store: BatchingStore,
  workspaceName: string,
  groups: Record<string, Partial<UserGroup>>,
): Promise<void> {
  const workspace = await store.read({ kind: 'findWorkspace', name: workspaceName });
  const stored = Object.entries(groups).map(([id, fields]) => userGroup(workspace!.workspaceId, id, fields));
  for (let start = 0; start < stored.length; start += BATCH)
    await store.write({ kind: 'copyUserGroups', userGroups: stored.slice(start, start + BATCH) });
  await store.write({ kind: 'gatherStatistics' });
}

function userGroup(workspaceId: number, providedId: string, fields: Partial<UserGroup>): UserGroup {
  teamId++;
  return {
    ...userGroupKey({ workspaceId, environment: 'Customer' }, providedId),
    teamId,
    name: `Name of ${providedId}`,
    mapping: null,
    properties: null,
    version: 1,
    tokenDigest: createHash('sha256').update(String(teamId)).digest('hex') as TokenDigest,
    sealedToken: { keyId: '00000000', ciphertext: 'unused' },
    previousTokenDigest: null,
    previousTokenExpiresAt: null,
    createdAt: 0,
    updatedAt: 0,
    suspendedAt: null,
    lastSeenAt: null,
    ...fields,
  };
}
