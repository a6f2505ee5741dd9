import type { Caller } from '../../domain/api-token.ts';
import { type Context, type OpenUserGroup, openToken } from '../context.ts';
import { userGroupEvent } from '../event/event.ts';
import { findUserGroup } from './read.ts';

/**
 * Returns the group with its token, to show it to a person. The event about it is durable before the token is
 * shown. Throws `user_group_not_found`.
 */
export async function revealToken(
  context: Context,
  caller: Caller,
  userGroupId: string,
): Promise<OpenUserGroup> {
  const opened = openToken(context, await findUserGroup(context, caller, userGroupId));
  const event = await userGroupEvent(context, caller, 'user_group.token_revealed', opened.userGroup);
  if (event !== undefined) await context.store.write({ kind: 'recordEvent', event });
  return opened;
}
