import * as field from '../../../domain/field.ts';
import { userGroupBody } from '../../../domain/user-group/user-group-body.ts';
import { updateUserGroup } from '../../../operations/user-group/update.ts';
import { ifMatchText, successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, raw, successBody } from '../../json.ts';
import { setEntityTag } from '../../response/entity-tag.ts';
import { objectSchema, successSchema } from '../../schema.ts';
import { environmentSchema, example, identityMembers, identitySchemas } from './representation.ts';

export const update = endpoint({
  operationId: 'updateUserGroup',
  method: 'PUT',
  paths: ['/api/user', '/api/user/'],
  permissions: ['read-write'],
  purpose: 'update user groups',
  body: userGroupBody,
  isConditional: true,
  handle: async ({ context, caller, body, precondition, reply }) => {
    const group = await updateUserGroup(context, caller, body, precondition);
    const { properties, environment } = group.userGroup;
    setEntityTag(reply, group.userGroup);
    return successBody({
      user_group: jsonObject({
        ...identityMembers(group),
        properties: raw(properties),
        api_environment_tag: environment,
      }),
    });
  },
  description: {
    tag: 'User groups',
    summary: 'Update a user group',
    text:
      'Changes the user group with this id. Each sent field replaces the stored one as a whole; absent fields are ' +
      'unchanged. `mapping: null` and `properties: null` clear; a `name` cannot be cleared. If the group does not exist, ' +
      `it is not created. The response always has the stored \`properties\`.${ifMatchText}`,
    requests: {
      properties: {
        summary: 'Replace the properties',
        value: { user_group_id: example.sent.user_group_id, properties: example.sent.properties },
      },
      clear: {
        summary: 'Rename, and clear the mapping',
        value: { user_group_id: example.sent.user_group_id, name: 'Acme Corporation', mapping: null },
      },
    },
    responses: {
      200: {
        description: 'The user group after the change.',
        headers: ['ETag'],
        schema: successSchema('UpdatedUserGroup', {
          user_group: objectSchema({
            ...identitySchemas,
            properties: {
              ...field.properties,
              description: 'The stored properties, whether or not the request has `properties`.',
            },
            api_environment_tag: environmentSchema,
          }),
        }),
        examples: successExample('updated', 'Updated', { user_group: example.updated }),
      },
    },
    problems: ['user_group_not_found', 'mapping_invalid', 'properties_invalid'],
  },
});
