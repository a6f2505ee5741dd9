import * as field from '../../../domain/field.ts';
import { type UserGroupBody, userGroupBody } from '../../../domain/user-group/user-group-body.ts';
import { getOrCreateUserGroup } from '../../../operations/user-group/get-or-create.ts';
import { ifNoneMatchText, successExample } from '../../description.ts';
import { type Call, endpoint } from '../../endpoint.ts';
import { jsonObject, raw, successBody } from '../../json.ts';
import { groupOfBody } from '../../prefetch.ts';
import { setEntityTag } from '../../response/entity-tag.ts';
import { objectSchema, successSchema } from '../../schema.ts';
import { example, identityMembers, identitySchemas } from './representation.ts';

const FoundUserGroup = successSchema('FoundUserGroup', {
  new_user_group: { type: 'boolean', description: 'Whether this call created the user group.' },
  user_group: objectSchema(
    {
      ...identitySchemas,
      properties: {
        ...field.properties,
        description: 'The stored properties; present if and only if the request has `properties`.',
      },
    },
    ['properties'],
  ),
});

/** Shared with `POST /v1/user-groups`, which differs only in the status of a new group. */
export const found = {
  headers: ['ETag', 'User-Group-Drift', 'User-Group-Suspended'],
  schema: FoundUserGroup,
} as const;

export const foundExamples = {
  ...successExample('found', 'The group exists', { new_user_group: false, user_group: example.found }),
  ...successExample('lookUp', 'The group exists, and the request has no properties', {
    new_user_group: false,
    user_group: example.identity,
  }),
};

export const createdExample = successExample('created', 'Created', {
  new_user_group: true,
  user_group: example.found,
});

export const requestExamples = {
  create: { summary: 'Get the group, or create it', value: example.sent },
  lookUp: { summary: 'Look up only', value: { user_group_id: example.sent.user_group_id } },
};

export const getOrCreate = endpoint({
  operationId: 'getOrCreateUserGroup',
  method: 'GET',
  paths: ['/api/user', '/api/user/'],
  permissions: ['read-write', 'read-only'],
  purpose: 'get user groups',
  access: 'either',
  body: userGroupBody,
  isConditional: true,
  prefetch: groupOfBody,
  handle: (call) => handleGetOrCreate(call, 200),
  description: {
    tag: 'User groups',
    summary: 'Get or create a user group',
    text:
      'Returns the stored user group with this id. If it does not exist and a `name` is sent, creates it. Without a ' +
      '`name` the call is a lookup.\n\n' +
      '- An existing group is **not changed**. The header `User-Group-Drift` lists the sent fields that differ from ' +
      'the stored ones.\n' +
      '- Of concurrent first calls exactly one creates the group, and all return the same token.\n' +
      '- `properties` is in the response if and only if it is in the request.\n' +
      '- The header `User-Group-Suspended` says that the token does not resolve for now.\n\n' +
      'This GET has a body, which many clients and proxies reject or drop (`fetch`, OkHttp, CloudFront, the load ' +
      `balancer of Google Cloud): \`POST /v1/user-groups\` accepts the same body and returns the same response.${ifNoneMatchText} ` +
      'An `If-None-Match` that names the current version has the same effect: the call can create, so it never returns 304.',
    requests: requestExamples,
    responses: {
      200: {
        description: 'The user group.',
        ...found,
        examples: { ...createdExample, ...foundExamples },
      },
    },
    problems: ['user_group_not_found', 'mapping_invalid', 'properties_invalid'],
  },
});

export async function handleGetOrCreate(
  { context, caller, body, precondition, reply }: Call<UserGroupBody>,
  statusIfCreated: number,
): Promise<string> {
  const group = await getOrCreateUserGroup(context, caller, body, precondition);
  const { created, drift, userGroup } = group;
  if (created) reply.code(statusIfCreated);
  setEntityTag(reply, userGroup);
  if (drift.length > 0) reply.header('user-group-drift', drift.join(', '));
  if (userGroup.suspendedAt !== null) reply.header('user-group-suspended', 'true');
  return successBody({
    new_user_group: created,
    user_group: jsonObject({
      ...identityMembers(group),
      properties: body.properties === undefined ? undefined : raw(userGroup.properties),
    }),
  });
}
