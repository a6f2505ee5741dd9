import type { Caller } from '../../domain/api-token.ts';
import { isSameTenant } from '../../domain/event/event.ts';
import { isMet, type Precondition } from '../../domain/precondition.ts';
import type { PresentedToken, TokenDigest } from '../../domain/token.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { tokenNotFound, tooBusy, versionMismatch } from '../refusals.ts';
import { findByToken } from './find-by-token.ts';
import { replaceToken } from './replace-token.ts';

export interface RotateBody {
  currentToken: PresentedToken;
  gracePeriodSeconds?: number;
}

/** The second attempt sees the change that made the first one fail; more failures indicate a bug. */
const MAX_ATTEMPTS = 4;

/**
 * Replaces the token of a group. The token that the last rotation replaced returns that rotation's result again, so a
 * caller whose response was lost can retry. Throws `user_group_token_not_found`, and `version_mismatch` if the
 * precondition is not met. A retry has to meet it too: it is indistinguishable from a concurrent call with the same
 * precondition, of which only one may succeed.
 */
export async function rotateToken(
  context: Context,
  caller: Caller,
  { currentToken, gracePeriodSeconds }: RotateBody,
  precondition?: Precondition,
): Promise<OpenUserGroup> {
  const minted = new Set<TokenDigest>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await findByToken(context.store, currentToken);
    if (found === null || !isSameTenant(found.userGroup, caller)) throw tokenNotFound();
    const { userGroup, digest } = found;
    // The store repeats a command whose result was lost; this call met the precondition before.
    const isRotatedHere = minted.has(userGroup.tokenDigest);
    if (!isRotatedHere && !isMet(precondition, userGroup)) throw versionMismatch();
    if (userGroup.tokenDigest !== digest) return openToken(context, userGroup);
    const rotated = await replaceToken(context, caller, userGroup, {
      gracePeriodSeconds,
      precondition,
      minted,
    });
    if (rotated !== null) return rotated;
    // Concurrently changed: it has another version, or the token was replaced or is no longer valid.
  }
  throw tooBusy('The token of this user group is being rotated too often.');
}
