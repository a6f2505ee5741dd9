// Suspends a group, after a page that says what this breaks, and resumes it.

import { resumeUserGroup, suspendUserGroup } from '../../operations/user-group/suspend.ts';
import { type Page, WRITERS } from '../page.ts';
import { applyToGroup, groupConfirmation } from './group.ts';
import { showStored } from './show.ts';

export const suspension = groupConfirmation({
  action: 'suspend',
  effect:
    'Its dashboards show an error from the next request on, until it is resumed. It keeps its token and all of its fields.',
  act: (call) =>
    applyToGroup(call, suspendUserGroup, 'The user group is suspended: its tokens resolve to nothing.'),
});

export const resume: Page = {
  method: 'POST',
  path: '/user-groups/:user_group_id/resume',
  permissions: WRITERS,
  purpose: 'resume user groups',
  handle: (call) =>
    applyToGroup(call, resumeUserGroup, 'The user group is resumed: its tokens resolve again.'),
  onRejection: showStored,
};
