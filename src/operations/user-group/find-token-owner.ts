// Finds the group of a token for people who investigate a problem. Unlike a resolution, this does not update
// `last_seen_at`, and it also finds the group of a token that no longer resolves.

import type { Caller } from '../../domain/api-token.ts';
import { limits } from '../../domain/field.ts';
import { PresentedToken } from '../../domain/token.ts';
import { previousTokenUntil, type UserGroup } from '../../domain/user-group/user-group.ts';
import type { Context } from '../context.ts';
import { findByEmbedToken } from './find-by-embed-token.ts';
import { findByToken } from './find-by-token.ts';

interface TokenOwner {
  userGroup: UserGroup;
  /**
   * Status of the token, regardless of a suspension. `replaced`: the last rotation replaced it, and its grace
   * period has ended.
   */
  status: 'current' | 'retiring' | 'replaced' | 'embed';
}

/**
 * Returns null for an unknown token, a token of another workspace or environment, and an embed token that is
 * no longer valid.
 */
export async function findTokenOwner(
  context: Pick<Context, 'store' | 'configs' | 'clock'>,
  caller: Caller,
  text: string,
): Promise<TokenOwner | null> {
  if (text.length > limits.tokenCharacters.most) {
    const found = await findByEmbedToken(context, caller, text);
    return found && { userGroup: found.userGroup, status: 'embed' };
  }
  const found = await findByToken(context.store, new PresentedToken(text), caller);
  if (found === null) return null;
  const { userGroup, digest } = found;
  if (userGroup.tokenDigest === digest) return { userGroup, status: 'current' };
  const isRetiring = previousTokenUntil(userGroup, context.clock()) !== null;
  return { userGroup, status: isRetiring ? 'retiring' : 'replaced' };
}
