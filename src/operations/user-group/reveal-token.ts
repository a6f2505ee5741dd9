import type { Caller } from '../../domain/api-token.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { callerOfAttempts } from '../document/environment-config.ts';
import { userGroupEvent } from '../event/event.ts';
import { changedTooOften } from '../refusals.ts';
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
  for (const reader of callerOfAttempts(caller)) {
    const event = await userGroupEvent(context, reader, 'user_group.token_revealed', opened.userGroup);
    if (event === undefined) return opened;
    await context.store.write({ kind: 'recordEvent', event });
    const current = await findUserGroup(context, caller, userGroupId);
    if (current.sealedToken.ciphertext === opened.userGroup.sealedToken.ciphertext) return opened;
    opened = openToken(context, current);
  }
  throw changedTooOften();
}
