import type { Caller } from '../../domain/api-token.ts';

import type { UserGroup } from '../../domain/user-group.ts';
import { type Context, isVisible } from '../context.ts';
import { tokenNotFound } from '../refusals.ts';
import { findByToken } from './find-by-token.ts';

export interface ResolveBody {
  token: string;
}

export interface Resolution {
  userGroup: UserGroup;
  token: { status: 'current'; expiresAt: null } | { status: 'retiring'; expiresAt: number };
}

/** Returns the group of a token that is current or in its grace period. Throws `user_group_token_not_found`. */
export async function resolveToken(
  { store, clock, usage }: Context,
  caller: Caller,
  body: ResolveBody,
): Promise<Resolution> {
  const found = await findByToken(store, body.token);
  if (found === null || !isVisible(found.userGroup, caller)) throw tokenNotFound();
  const { userGroup, digest } = found;
  if (userGroup.suspendedAt !== null) throw tokenNotFound();
  if (userGroup.tokenDigest === digest) {
    usage.resolved(userGroup);
    return { userGroup, token: { status: 'current', expiresAt: null } };
  }
  const expiresAt = userGroup.previousTokenExpiresAt;
  if (expiresAt === null || expiresAt <= clock()) throw tokenNotFound();
  usage.resolved(userGroup);
  return { userGroup, token: { status: 'retiring', expiresAt } };
}
