import type { Caller } from '../../domain/api-token.ts';
import { dataSourceDefinition } from '../../domain/catalogue/catalogue.ts';
import { type Document, documentBytes, nextVersion } from '../../domain/document.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import { tenantOf } from '../../domain/tenant.ts';
import { asImported } from '../../domain/token.ts';
import { isSameKey, type UserGroup, type UserGroupKey } from '../../domain/user-group/user-group.ts';
import { Problem } from '../../problem.ts';
import type { BatchingStore } from '../../store/batching-store.ts';
import type { DocumentChange, UserGroupRename } from '../../store/port.ts';
import { reservedInstead } from '../catalogue/catalogue.ts';
import { MAX_CONFIG_CHANGES, MAX_CONFIG_DELIVERIES, refuseLimits } from '../config/plan.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import type { DocumentContext } from '../document/document.ts';
import { callerOfAttempts } from '../document/environment-config.ts';
import { newEvent, userGroupEvent } from '../event/event.ts';
import { changedTooOften, idTaken, userGroupNotFound, versionMismatch } from '../refusals.ts';

type RenameContext = DocumentContext & Pick<Context, 'cpu'>;

/**
 * Gives the group another id. Its `team_id`, tokens, history and stored values stay the same, and data
 * sources reserved for it remain reserved. Repeating the call returns the renamed group. Throws
 * `user_group_not_found`, `user_group_exists` if another group has the new id, `version_mismatch` if the
 * precondition is not met, and `limit_reached` if too many data sources are reserved for it, or become too large.
 */
export async function renameUserGroup(
  context: RenameContext,
  caller: Caller,
  userGroupId: string,
  newUserGroupId: string,
  precondition: Precondition | undefined,
): Promise<OpenUserGroup> {
  const { store } = context;
  const key = store.userGroupKey(caller, userGroupId);
  const to = store.userGroupKey(caller, newUserGroupId);
  for (const reader of callerOfAttempts(caller)) {
    const stored =
      (await store.read({ kind: 'findUserGroup', key })) ?? (await findRenamed(context, key, to));
    if (stored === 'changed') continue;
    if (!isMet(precondition, stored)) throw versionMismatch();
    const open = openToken(context, stored);
    if (isSameKey(to, stored)) return open;
    const result = await store.write(await commandFor(context, reader, open, to, precondition));
    if (typeof result === 'object') return { ...open, userGroup: result };
    if (result === 'version_mismatch') throw versionMismatch();
    if (result === 'id_taken') throw idTaken();
    // The group was renamed, deleted or rotated concurrently, or a reservation has changed.
  }
  throw changedTooOften();
}

/**
 * Returns the group that an earlier call with the same ids has renamed. Returns `changed` if one of them
 * changed while they were read: the response must have been right at one instant. Throws
 * `user_group_not_found`.
 */
async function findRenamed(
  { store }: DocumentContext,
  key: UserGroupKey,
  to: UserGroupKey,
): Promise<UserGroup | 'changed'> {
  const first = await readRename(store, key, to);
  const isAbsent = (await store.read({ kind: 'findUserGroup', key })) === null;
  const { userGroup, left, state } = await readRename(store, key, to);
  if (!isAbsent || state !== first.state) return 'changed';
  if (left === null || userGroup?.teamId !== left.teamId) throw userGroupNotFound();
  return userGroup;
}

/** `left` is null unless this rename is the last one of both ids. */
async function readRename(store: BatchingStore, key: UserGroupKey, to: UserGroupKey) {
  const before = Number.MAX_SAFE_INTEGER;
  const [left, arrived, userGroup] = await Promise.all([
    store.read({ kind: 'findLastRename', key, before }),
    store.read({ kind: 'findLastRename', key: to, before }),
    store.read({ kind: 'findUserGroup', key: to }),
  ]);
  const isSameRename = left?.direction === 'to' && left.position === arrived?.position;
  const state = [left?.position, arrived?.position, userGroup?.teamId, userGroup?.version].join();
  return { left: isSameRename ? left : null, userGroup, state };
}

async function commandFor(
  context: RenameContext,
  caller: Caller,
  { userGroup, token }: OpenUserGroup,
  to: UserGroupKey,
  precondition: Precondition | undefined,
): Promise<UserGroupRename & { kind: 'renameUserGroup' }> {
  const { keyRing, clock } = context;
  const { bucket, workspaceId, environment, providedId, sealedToken } = userGroup;
  // The text of the token encodes the bucket of the old id.
  const tokenDigest = to.bucket === bucket ? userGroup.tokenDigest : asImported(userGroup.tokenDigest);
  return {
    kind: 'renameUserGroup',
    key: { bucket, workspaceId, environment, providedId },
    to,
    precondition,
    expected: sealedToken,
    tokenDigest,
    sealedToken: keyRing.seal(token, { ...userGroup, ...to, tokenDigest }),
    config: await moveReservations(context, caller, providedId, to.providedId),
    now: clock(),
    event: await userGroupEvent(context, caller, 'user_group.renamed', to),
  };
}

/**
 * Returns the changes of the data sources that are reserved for the group; none is added to the configuration
 * before they are made.
 */
async function moveReservations(
  context: RenameContext,
  caller: Caller,
  from: string,
  to: string,
): Promise<UserGroupRename['config']> {
  const { store, configs, clock } = context;
  const config = await configs.of(store, caller);
  const changes: (DocumentChange & { after: Document })[] = [];
  for (const before of config.ofKind(dataSourceDefinition.kind).values()) {
    const body = reservedInstead(before.body, from, to);
    if (body === null) continue;
    const event = await newEvent(context, caller, 'data_source.updated', before.id);
    const after = nextVersion(before, before, { body, now: clock() });
    changes.push({ before, after, event });
  }
  const endpoints = changes[0]?.event?.endpoints.length ?? 0;
  const max = Math.min(MAX_CONFIG_CHANGES, Math.floor(MAX_CONFIG_DELIVERIES / endpoints));
  if (changes.length > max) throw tooManyReservations(changes.length, max, endpoints);
  if (changes.some(({ before, after }) => documentBytes(after) > documentBytes(before!))) {
    await context.cpu.turn(config.characters);
    const drafts = changes.map(({ before, after }) => ({ key: after, stored: before, prepared: after }));
    refuseLimits(config, drafts);
  }
  return { tenant: tenantOf(caller), version: config.version, changes };
}

/**
 * Limits the reservations, because all are changed, recorded and delivered in one transaction, during which other
 * writes wait.
 */
function tooManyReservations(count: number, max: number, endpoints: number): Problem {
  const why =
    max < MAX_CONFIG_CHANGES ? ` while ${endpoints} webhook endpoints receive data_source.updated` : '';
  return new Problem(
    'limit_reached',
    `${count} data sources are reserved for this user group, and a rename moves at most ${max}${why}. Release or delete some first.`,
  );
}
