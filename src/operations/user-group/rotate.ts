import type { Caller } from '../../domain/api-token.ts';
import type { Precondition } from '../../domain/precondition.ts';
import { isSameTenant } from '../../domain/tenant.ts';
import type { PresentedToken } from '../../domain/token.ts';
import type { Context, OpenUserGroup } from '../context.ts';
import { tokenNotFound } from '../refusals.ts';
import { findByToken } from './find-by-token.ts';
import { replaceToken } from './replace-token.ts';

export interface RotateBody {
  currentToken: PresentedToken;
  gracePeriodSeconds?: number | undefined;
}

/**
 * Maximum number of attempts. The second one sees the change that made the first one fail; more failures
 * indicate a bug.
 */
const MAX_ATTEMPTS = 4;

/**
 * Replaces the token of a group. Called with the token that the last rotation replaced, returns that
 * rotation's result again, so a caller whose response was lost can retry. Throws
 * `user_group_token_not_found`, and `version_mismatch` if the precondition is not met. A retry has to meet it
 * too, because it cannot be distinguished from a concurrent call with the same precondition, of which only
 * one may succeed.
 */
export async function rotateToken(
  context: Context,
  caller: Caller,
  { currentToken, gracePeriodSeconds }: RotateBody,
  precondition?: Precondition,
): Promise<OpenUserGroup> {
  const find = async () => {
    const found = await findByToken(context.store, currentToken);
    if (found === null || !isSameTenant(found.userGroup, caller)) throw tokenNotFound();
    const { userGroup, digest } = found;
    return { userGroup, isReplaced: userGroup.tokenDigest !== digest };
  };
  const replacement = { find, gracePeriodSeconds, precondition, maxAttempts: MAX_ATTEMPTS };
  return replaceToken(context, caller, replacement);
}
