import * as field from '../../../domain/field.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { tenantOf } from '../../../domain/tenant.ts';
import { PresentedToken } from '../../../domain/token.ts';
import { type RotateBody, rotateToken } from '../../../operations/user-group/rotate.ts';
import { ifMatchText, successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, successBody } from '../../json.ts';
import { setEntityTag } from '../../response/entity-tag.ts';
import { objectSchema, successSchema } from '../../schema.ts';
import {
  EXAMPLE_TOKEN,
  environmentSchema,
  example,
  identityMembers,
  identitySchemas,
} from './representation.ts';

const body = bodyType({
  name: 'TokenRotation',
  fields: { current_token: field.token, grace_period_seconds: field.gracePeriodSeconds },
  required: ['current_token'],
  hint: (value) =>
    'user_group_id' in value && !('current_token' in value)
      ? 'This endpoint rotates a token and requires current_token, but the body is one for get-or-create: a client or ' +
        "proxy has changed GET to POST, as Java's HttpURLConnection does. Send it to POST /v1/user-groups instead."
      : undefined,
  convert: ({ value: { current_token, grace_period_seconds } }): RotateBody => ({
    currentToken: new PresentedToken(current_token),
    gracePeriodSeconds: grace_period_seconds,
  }),
});

export const rotate = endpoint({
  operationId: 'rotateUserGroupToken',
  method: 'POST',
  paths: ['/api/user', '/api/user/'],
  permissions: ['read-write'],
  purpose: 'rotate tokens',
  body,
  isConditional: true,
  prefetch: (caller, { currentToken: { address } }) =>
    address && { kind: 'findUserGroupByToken', address, tenant: tenantOf(caller) },
  handle: async ({ context, caller, body, precondition, reply }) => {
    const group = await rotateToken(context, caller, body, precondition);
    const { userGroup } = group;
    setEntityTag(reply, userGroup);
    return successBody({
      user_group: jsonObject({
        ...identityMembers(group),
        api_environment_tag: userGroup.environment,
      }),
    });
  },
  description: {
    tag: 'User group tokens',
    summary: 'Rotate a token',
    text:
      'Replaces the token of the group. The new token is valid when the response is sent. The old one resolves until its ' +
      'grace period ends; with 0 seconds, the default unless the operator sets another, it is rejected immediately by ' +
      'every process. At most one old token is valid: a second rotation ends the grace period of an older one.\n\n' +
      '**Safe to retry.** The token that the last rotation replaced returns the same new token again and rotates ' +
      `nothing, so a lost response is not a problem.${ifMatchText} This applies to a retry too: if the response to a rotation with ` +
      '`If-Match` is lost, call get-or-create for the token.\n\n' +
      'Pages that call get-or-create on each load use the new token from their next load on. Choose a grace period ' +
      'longer than a page stays open, or 0 for a token that has leaked.',
    requests: {
      atOnce: { summary: 'The old token stops working immediately', value: { current_token: EXAMPLE_TOKEN } },
      grace: {
        summary: 'The old token resolves for another day',
        value: { current_token: EXAMPLE_TOKEN, grace_period_seconds: 86_400 },
      },
    },
    responses: {
      200: {
        description: 'The user group with its new token, which get-or-create now returns.',
        headers: ['ETag'],
        schema: successSchema('RotatedUserGroup', {
          user_group: objectSchema({ ...identitySchemas, api_environment_tag: environmentSchema }),
        }),
        examples: successExample('rotated', 'Rotated', { user_group: example.rotated }),
      },
    },
    problems: ['user_group_token_not_found'],
  },
});
