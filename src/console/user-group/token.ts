// The token of a group, which pages contain only after a person has asked for it.

import { userGroupIdOf } from '../../http/request/path-parameter.ts';
import { openToken } from '../../operations/context.ts';
import { findUserGroup } from '../../operations/user-group/read.ts';
import { type Page, WRITERS } from '../page.ts';
import { showView } from './show.ts';

export const token: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/token',
  permissions: WRITERS,
  purpose: 'see the tokens of user groups',
  access: 'read',
  handle: async (call) => {
    const userGroup = await findUserGroup(call.context, call.caller, userGroupIdOf(call.request));
    return showView(call, openToken(call.context, userGroup));
  },
};
