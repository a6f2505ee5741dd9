import { bodyType } from '../../../domain/request-body.ts';
import { settableSchemas, userGroupFields } from '../../../domain/user-group/user-group-body.ts';
import { replaceUserGroup } from '../../../operations/user-group/replace.ts';
import { ifMatchText, ifNoneMatchText } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { userGroupIdParameter } from '../../request/path-parameter.ts';
import { example, groupResponse, respondWithGroup } from './representation.ts';

const body = bodyType({
  name: 'UserGroupReplacement',
  fields: settableSchemas,
  required: ['name'],
  convert: (document) => ({ ...userGroupFields(document), name: document.value.name }),
});

const { name, mapping, properties } = example.sent;
const created = {
  ...example.stored,
  version: 1,
  updated_at: example.stored.created_at,
  last_seen_at: null,
};

export const replace = endpoint({
  operationId: 'replaceUserGroup',
  method: 'PUT',
  paths: ['/v1/user-groups/:user_group_id'],
  permissions: ['read-write'],
  purpose: 'replace user groups',
  body,
  isConditional: true,
  handle: async ({ context, caller, body, precondition, request, reply }) => {
    const group = await replaceUserGroup(context, caller, userGroupIdParameter(request), body, precondition);
    if (group.created) reply.code(201);
    return respondWithGroup(reply, group);
  },
  description: {
    tag: 'User groups',
    summary: 'Create or replace a user group',
    text:
      'Stores exactly the sent fields under this id: creates the group, or replaces all fields of an existing one. An ' +
      'absent `mapping` or `properties` becomes null. The token of an existing group is unchanged. If nothing differs, ' +
      'the version is unchanged too. For a nightly sync; safe to retry. The response is that of the read.' +
      `${ifNoneMatchText}${ifMatchText} A group that does not exist has no version: with \`If-Match\` it is not created.`,
    requests: {
      full: { summary: 'All fields', value: { name, mapping, properties } },
      name: { summary: 'Only a name: clear the mapping and the properties', value: { name } },
    },
    responses: {
      200: groupResponse('The existing user group, with the sent fields.', {
        replaced: ['Replaced', example.stored],
      }),
      201: groupResponse('The user group that this call created.', { created: ['Created', created] }),
    },
    problems: ['mapping_invalid', 'properties_invalid'],
  },
});
