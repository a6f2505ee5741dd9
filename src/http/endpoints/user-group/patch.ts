import * as field from '../../../domain/field.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { settableSchemas, userGroupFields } from '../../../domain/user-group/user-group-body.ts';
import { patchUserGroup } from '../../../operations/user-group/patch.ts';
import { ifMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { groupOfPath } from '../../prefetch.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { example, groupResponse, respondWithGroup } from './representation.ts';

const body = bodyType({
  name: 'UserGroupPatch',
  fields: {
    ...settableSchemas,
    mapping: {
      ...field.mapping,
      // Accepts null, which removes an entry.
      additionalProperties: field.nullableDataSourceReference,
    },
  },
  required: [],
  convert: userGroupFields,
});

export const patch = endpoint({
  operationId: 'patchUserGroup',
  method: 'PATCH',
  paths: ['/v1/user-groups/:user_group_id'],
  permissions: ['read-write'],
  purpose: 'change user groups',
  body,
  isConditional: true,
  mediaTypes: ['application/merge-patch+json', 'application/json'],
  prefetch: groupOfPath,
  handle: async ({ context, caller, body, precondition, request, reply }) => {
    const group = await patchUserGroup(context, caller, userGroupIdParameter(request), body, precondition);
    return respondWithGroup(reply, group);
  },
  description: {
    tag: 'User groups',
    summary: 'Change parts of a user group',
    text:
      'A JSON Merge Patch (RFC 7396) of `name`, `mapping` and `properties`: a sent member is set, one that is null is ' +
      'removed, absent ones are unchanged; the same applies to nested objects. `mapping: null` and `properties: null` ' +
      `clear. Concurrent changes by other callers are not lost.${ifMatchText}`,
    requests: {
      member: {
        summary: 'Set one property and remove another',
        value: { properties: { seats: 30, trial: null } },
      },
      rename: { summary: 'Rename', value: { name: 'Acme Corporation' } },
    },
    responses: {
      200: groupResponse('The user group after the change.', { changed: ['Changed', example.stored] }),
    },
    problems: ['user_group_not_found', 'mapping_invalid', 'properties_invalid'],
  },
});
