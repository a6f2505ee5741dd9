import type { Caller } from '../../domain/api-token.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { changedTooOften, MAX_ATTEMPTS } from '../refusals.ts';
import { findUserGroup } from './read.ts';

/**
 * Returns the group with its token, to show it to a person. The event about it is durable before the token is
 * shown, under the id that the group has then. Throws `user_group_not_found`.
 */
export async function revealToken(
  context: Context,
  caller: Caller,
  userGroupId: string,
): Promise<OpenUserGroup> {
  let opened = openToken(context, await findUserGroup(context, caller, userGroupId));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const event = await userGroupEvent(context, caller, 'user_group.token_revealed', opened.userGroup);
    if (event === undefined) return opened;
    await context.store.write({ kind: 'recordEvent', event });
    const current = await findUserGroup(context, caller, userGroupId);
    if (current.sealedToken.ciphertext === opened.userGroup.sealedToken.ciphertext) return opened;
    opened = openToken(context, current);
  }
  throw changedTooOften();
}
