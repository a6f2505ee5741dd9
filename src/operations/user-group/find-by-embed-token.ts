// Finds the group of an embed token of type jwt, if what the token says is still true.

import type { Caller } from '../../domain/api-token.ts';
import { withNarrowed } from '../../domain/embed-token/narrow.ts';
import { splitMembers } from '../../domain/json/json-tree.ts';
import type { JsonText } from '../../domain/json/strict-json.ts';
import { isSignedBy, parseJwt, type UnverifiedJwt } from '../../domain/signing-key/json-web-token.ts';
import { type UserGroup, userGroupKey } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { findKeySet, findVerifier } from '../signing-key/key-set.ts';

interface FoundByEmbedToken {
  userGroup: UserGroup;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

const MAX_LENGTH = 4_096;

/**
 * Returns null unless a published key of the caller's environment has signed the token, it has not expired, and the group
 * has not changed since: a rotation, an update, a suspension and a deletion all end it, because each changes the version
 * or the id of the group.
 */
export async function findByEmbedToken(
  context: Pick<Context, 'store' | 'configs' | 'clock'>,
  caller: Caller,
  text: string,
): Promise<FoundByEmbedToken | null> {
  const token = text.length > MAX_LENGTH ? null : parseJwt(text);
  const keySet = token && (await findKeySet(context, caller));
  if (token === null || keySet === null) return null;
  const now = context.clock();
  const verifier = findVerifier(keySet, token.kid, now);
  if (verifier === null || !isSignedBy(token, verifier)) return null;
  const claims = readClaims(token.payload);
  if (claims === null || claims.expiresAt <= now) return null;
  const key = userGroupKey(caller, claims.providedId);
  const userGroup = await context.store.read({ kind: 'findUserGroup', key });
  if (userGroup === null || userGroup.suspendedAt !== null) return null;
  if (userGroup.teamId !== claims.teamId || userGroup.version !== claims.version) return null;
  const narrow = narrowIn(token);
  const viewed = narrow === null ? userGroup : withNarrowed(userGroup, narrow);
  return { userGroup: viewed, expiresAt: claims.expiresAt };
}

/**
 * Returns the part of the properties that the token is limited to, with exact digits; null if it is not
 * limited.
 */
function narrowIn({ payload, payloadText }: UnverifiedJwt): JsonText | null {
  if (!('narrow' in Object(payload.user_group))) return null;
  return splitMembers(splitMembers(payloadText).get('"user_group"')!).get('"narrow"')!;
}

/** Returns null for a token that was signed here but names no group, such as a guest token of Superset. */
function readClaims({ sub, exp, user_group }: Record<string, unknown>) {
  const { id, version } = Object(user_group) as { id?: unknown; version?: unknown };
  if (typeof sub !== 'string' || typeof exp !== 'number') return null;
  if (typeof id !== 'number' || typeof version !== 'number') return null;
  return { providedId: sub, teamId: id, version, expiresAt: exp * 1_000 };
}
