import * as field from '../../../domain/field.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { rotateTokenById } from '../../../operations/user-group/rotate.ts';
import { ifMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfPath } from '../../prefetch.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { EXAMPLE_NEXT_TOKEN, example, groupResponse, respondWithGroup } from './representation.ts';

const body = bodyType({
  name: 'TokenRotationById',
  fields: { grace_period_seconds: field.gracePeriodSeconds },
  required: [],
  convert: ({ value }) => value,
  isOptional: true,
});

export const rotateById = endpoint({
  operationId: 'rotateUserGroupTokenById',
  method: 'POST',
  paths: ['/v1/user-groups/:user_group_id/rotate'],
  permissions: ['read-write'],
  purpose: 'rotate tokens',
  body,
  isConditional: true,
  prefetch: groupOfPath,
  handle: async ({ context, caller, body, precondition, request, reply }) => {
    const id = userGroupIdParameter(request);
    const group = await rotateTokenById(context, caller, id, body.grace_period_seconds, precondition);
    return respondWithGroup(reply, group);
  },
  description: {
    tag: 'User group tokens',
    summary: 'Rotate a token by id',
    text:
      'Replaces the token of the group with this id, for callers that do not hold the token. The grace period is that of ' +
      '`POST /api/user`; the body may be empty. The response is that of the read.\n\n' +
      '**Retry with `If-Match`.** Without it every call rotates again, and the second rotation ends the grace period of ' +
      'the token that the first one replaced. Send the `ETag` of a read: if the response is lost, repeat the same ' +
      `request; 412 \`version_mismatch\` then means that it was applied or that the group was changed: read the group.${ifMatchText}`,
    requests: {
      immediate: { summary: 'The old token stops working immediately', value: { grace_period_seconds: 0 } },
      grace: {
        summary: 'The old token resolves for another day',
        value: { grace_period_seconds: 86_400 },
      },
    },
    responses: {
      200: groupResponse('The user group with its new token.', {
        rotated: ['Rotated', { ...example.stored, token: EXAMPLE_NEXT_TOKEN }],
      }),
    },
    problems: ['user_group_not_found'],
  },
});
