// Suspends and resumes a user group: two endpoints that differ only in the state they set.

import { openToken } from '../../../operations/context.ts';
import { resumeUserGroup, suspendUserGroup } from '../../../operations/user-group/suspend.ts';
import { type EndpointDescription, ifMatchText } from '../../description.ts';
import { type AnyEndpoint, endpoint } from '../../endpoint.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { example, groupResponse, respondWithGroup } from './representation.ts';

export const suspend = suspensionEndpoint({
  operationId: 'suspendUserGroup',
  action: 'suspend',
  change: suspendUserGroup,
  summary: 'Suspend a user group',
  text:
    'The tokens of the group, current and retiring, resolve to nothing until the group is resumed: every process ' +
    'responds 404 `user_group_token_not_found` from the next request on, as for a token that does not exist. The group ' +
    'itself can still be read, changed and rotated, and get-or-create returns it. Idempotent: suspending a suspended ' +
    'group changes nothing. Update, patch and replace keep the suspension.',
  after: { description: 'The suspended user group.', example: { ...example.stored, suspended: true } },
});

export const resume = suspensionEndpoint({
  operationId: 'resumeUserGroup',
  action: 'resume',
  change: resumeUserGroup,
  summary: 'Resume a user group',
  text:
    'Ends a suspension: the same tokens resolve again, from the next request on. Idempotent: resuming a group that is ' +
    'not suspended changes nothing.',
  after: { description: 'The user group, which is not suspended.', example: example.stored },
});

interface SuspensionEndpoint extends Pick<EndpointDescription, 'summary' | 'text'> {
  operationId: string;
  /** Completes the path, and the message for a caller without permission. */
  action: 'suspend' | 'resume';
  change: typeof suspendUserGroup;
  after: { description: string; example: object };
}

function suspensionEndpoint(definition: SuspensionEndpoint): AnyEndpoint {
  const { operationId, action, change, summary, text, after } = definition;
  return endpoint({
    operationId,
    method: 'POST',
    paths: [`/v1/user-groups/:user_group_id/${action}`],
    permissions: ['read-write'],
    purpose: `${action} user groups`,
    isConditional: true,
    handle: async ({ context, caller, precondition, request, reply }) => {
      const userGroup = await change(context, caller, userGroupIdParameter(request), precondition);
      return respondWithGroup(reply, openToken(context, userGroup));
    },
    description: {
      tag: 'User groups',
      summary,
      text: `${text} The body is empty. The response is that of the read.${ifMatchText}`,
      responses: {
        200: groupResponse(after.description, { changed: ['After the call', after.example] }),
      },
      problems: ['user_group_not_found'],
    },
  });
}
