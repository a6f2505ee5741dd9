// User groups in responses: members, schema and example.

import type { FastifyReply } from 'fastify';
import * as field from '../../../domain/field.ts';
import { timestamp, timestampOrNull } from '../../../domain/instant.ts';
import type { Secret } from '../../../domain/secret.ts';
import { environments } from '../../../domain/tenant.ts';
import type { SettableFields, UserGroup } from '../../../domain/user-group/user-group.ts';
import type { OpenUserGroup } from '../../../operations/context.ts';
import { type ResponseDescription, successExample } from '../../description.ts';
import { type Json, jsonObject, raw, successBody } from '../../json.ts';
import { setEntityTag } from '../../response/entity-tag.ts';
import {
  namedSchema,
  objectSchema,
  type Schema,
  successSchema,
  timestampOrNullSchema,
  timestampSchema,
} from '../../schema.ts';

/** Returns the members that all operations of the specification return, in its order. */
export function identityMembers({ userGroup, token }: OpenUserGroup) {
  return {
    team_id: userGroup.teamId,
    token: token.reveal(),
    name: userGroup.name,
    provided_id: userGroup.providedId,
  };
}

/** Members of a user group, among them all fields that callers set. */
type Members<Value> = Record<keyof SettableFields, Value> & Record<string, Value>;

/** Everything stored of a user group; `token` is null for callers that must not see it. */
export function storedJson(userGroup: UserGroup, token: Secret | null): Json {
  return jsonObject({
    team_id: userGroup.teamId,
    token: token?.reveal(),
    name: userGroup.name,
    provided_id: userGroup.providedId,
    mapping: raw(userGroup.mapping),
    properties: raw(userGroup.properties),
    api_environment_tag: userGroup.environment,
    version: userGroup.version,
    created_at: timestamp(userGroup.createdAt),
    updated_at: timestamp(userGroup.updatedAt),
    suspended: userGroup.suspendedAt !== null,
    last_seen_at: timestampOrNull(userGroup.lastSeenAt),
  } satisfies Members<unknown>);
}

/** Responds with everything stored of the group, like `GET /v1/user-groups/{user_group_id}`. */
export function respondWithGroup(
  reply: FastifyReply,
  { userGroup, token }: { userGroup: UserGroup; token: Secret | null },
): string {
  setEntityTag(reply, userGroup);
  return successBody({ user_group: storedJson(userGroup, token) });
}

export const teamIdSchema = {
  ...field.assignedNumber,
  description:
    "The service's own number of the user group. Never changes, is never reused, need not be stored.",
} as const satisfies Schema;

const tokenSchema = {
  type: 'string',
  minLength: field.limits.tokenCharacters.least,
  maxLength: field.limits.tokenCharacters.most,
  description:
    'The user group token, which identifies who is viewing a dashboard. Opaque, visible ASCII. Only for your backend, ' +
    'the viewers of this group and the server of their dashboards. Does not expire.',
} as const satisfies Schema;

export const providedIdSchema = { ...field.userGroupId, description: 'The `user_group_id` of the request.' };

export const environmentSchema = {
  type: ['string', 'null'],
  enum: [...environments, null],
  description: 'The environment of the API token that created the user group. Currently never null.',
} as const satisfies Schema;

export const identitySchemas = {
  team_id: teamIdSchema,
  token: tokenSchema,
  name: field.name,
  provided_id: providedIdSchema,
};

const storedSchemas = {
  name: field.name,
  provided_id: providedIdSchema,
  mapping: field.mapping,
  properties: field.properties,
  api_environment_tag: environmentSchema,
  version: { type: 'integer', minimum: 1, description: 'Starts at 1 and increases with every change.' },
  created_at: timestampSchema,
  updated_at: timestampSchema,
  suspended: { type: 'boolean', description: 'While true, the tokens of the group do not resolve.' },
  last_seen_at: timestampOrNullSchema(
    'When a token of the group was last resolved or an embed token was minted for it: RFC 3339, UTC, rounded down to the ' +
      'hour, written within seconds; null if never. Changes neither `version` nor `updated_at`.',
  ),
} as const satisfies Members<Schema>;

export const listedSchema = namedSchema('UserGroup', { team_id: teamIdSchema, ...storedSchemas });

const StoredUserGroup = successSchema('StoredUserGroup', {
  user_group: objectSchema(
    {
      team_id: teamIdSchema,
      token: {
        ...tokenSchema,
        description: `${tokenSchema.description} Only for an API token with \`read-write\` or \`admin\`.`,
      },
      ...storedSchemas,
    },
    ['token'],
  ),
});

/** Describes the response of `respondWithGroup`, with one example for each of `groups`. */
export function groupResponse(
  description: string,
  groups: Readonly<Record<string, readonly [summary: string, userGroup: object]>>,
): ResponseDescription {
  const examples = Object.entries(groups).map(([name, [summary, user_group]]) =>
    successExample(name, summary, { user_group }),
  );
  return {
    description,
    headers: ['ETag'],
    schema: StoredUserGroup,
    examples: Object.assign({}, ...examples),
  };
}

/** Has the form of a token but a wrong checksum, so that no service accepts it. */
export const EXAMPLE_TOKEN = `ugt_2Fh${'ExampleTokenDoNotUse'.repeat(3).slice(0, 43)}000000`;
export const EXAMPLE_NEXT_TOKEN = `ugt_2Fh${'AnotherExampleToken'.repeat(3).slice(0, 43)}000000`;

const id = 'acme-7';
const name = 'Acme Inc.';
const mapping = { '40': '213' };
const properties = { plan: 'gold', seats: 25 };
const tag = { api_environment_tag: 'Customer' };
const times = { created_at: '2026-03-02T09:30:00.000Z', updated_at: '2026-03-05T16:04:12.345Z' };
const use = { suspended: false, last_seen_at: '2026-03-09T11:00:00.000Z' };
const rest = { name, provided_id: id, mapping, properties, ...tag, version: 3, ...times, ...use };
const identity = { team_id: 1042, token: EXAMPLE_TOKEN, name, provided_id: id };

/** One user group, in every form that a request or response has. */
export const example = {
  sent: { name, user_group_id: id, mapping, properties },
  identity,
  found: { ...identity, properties },
  updated: { ...identity, properties, ...tag },
  rotated: { ...identity, token: EXAMPLE_NEXT_TOKEN, ...tag },
  resolved: { team_id: 1042, provided_id: id, name, properties, mapping, ...tag },
  listed: { team_id: 1042, ...rest },
  stored: { team_id: 1042, token: EXAMPLE_TOKEN, ...rest },
};
