// The schemas of answers. Those of requests are the ones that validate (`domain/field.ts`, `domain/body.ts`), and an
// answer shows a field under the same limits. What the service answers is held to these by the tests.

import * as field from '../../domain/field.ts';
import { environments } from '../../domain/user-group.ts';
import { problems } from '../../problem.ts';

/** The keywords of JSON Schema that the description uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly 'x-pattern-detail'?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly maxProperties?: number;
  readonly 'x-max-bytes'?: number;
  readonly 'x-max-levels'?: number;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
}

const teamId = {
  type: 'integer',
  minimum: 1,
  maximum: Number.MAX_SAFE_INTEGER,
  description:
    "The service's own number of the user group. Never changes and is never reused; need not be kept.",
} as const satisfies Schema;

const token = {
  type: 'string',
  minLength: field.limits.tokenCharacters.least,
  maxLength: field.limits.tokenCharacters.most,
  description:
    'The user group token: tells a dashboard who is viewing. Opaque, visible ASCII. A secret: keep it on your server.',
} as const satisfies Schema;

const providedId = { ...field.userGroupId, description: 'The `user_group_id` that was sent.' };

const apiEnvironmentTag = {
  type: ['string', 'null'],
  enum: [...environments, null],
  description: 'The environment of the API token that created the user group. Never null today.',
} as const satisfies Schema;

const instant = { type: 'string', format: 'date-time' } as const;

const identity = { team_id: teamId, token, name: field.name, provided_id: providedId };

const stored = {
  name: field.name,
  provided_id: providedId,
  mapping: field.mapping,
  properties: field.properties,
  api_environment_tag: apiEnvironmentTag,
  version: { type: 'integer', minimum: 1, description: '1 when created, one more with every change.' },
  created_at: { ...instant, description: 'RFC 3339, UTC.' },
  updated_at: { ...instant, description: 'RFC 3339, UTC.' },
};

const success = { type: 'integer', const: 1 } as const;

const nextCursor = {
  type: ['string', 'null'],
  description: 'The `cursor` of the next page; null on the last one.',
} as const satisfies Schema;

const tokenState = {
  description: 'Whether the token is the one that the user group has, or a replaced one in its grace period.',
  oneOf: [
    object({ status: { type: 'string', const: 'current' }, expires_at: { type: 'null' } }),
    object({
      status: { type: 'string', const: 'retiring' },
      expires_at: { ...instant, description: 'When it will be dead. RFC 3339, UTC.' },
    }),
  ],
};

const problem = object(
  {
    success: { type: 'integer', const: 0 },
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'Where the code is explained: `/errors#CODE`.',
    },
    title: { type: 'string', description: 'The code in words; the same at every occurrence.' },
    status: { type: 'integer', minimum: 400, maximum: 599, description: 'The status of the answer.' },
    detail: { type: 'string', description: 'What is wrong with this request, and what to do next.' },
    code: {
      type: 'string',
      enum: Object.keys(problems),
      description: 'What to act on. Codes are added, never renamed.',
    },
    request_id: { type: 'string', description: 'Finds the request in the log; `X-Request-Id` has it too.' },
    errors: {
      type: 'array',
      items: object({
        pointer: {
          type: 'string',
          description:
            'RFC 6901, into the body. Empty for the body itself. A name of more than 300 characters is cut, and ' +
            'ends with `… (cut off)`.',
        },
        detail: { type: 'string', description: 'What is wrong there.' },
      }),
      description: 'The places of the body that are at fault, 20 at most; only where there are such.',
    },
  },
  ['errors'],
  'Every answer that is no success (RFC 9457).',
);

/** By the names that they have in the document. */
export const answerSchemas = {
  FoundUserGroup: answer({
    new_user_group: { type: 'boolean', description: 'Whether this call has created it.' },
    user_group: object(
      {
        ...identity,
        properties: {
          ...field.properties,
          description: 'As they are stored; there exactly where the request has the key.',
        },
      },
      ['properties'],
    ),
  }),
  UpdatedUserGroup: answer({
    user_group: object({
      ...identity,
      properties: field.properties,
      api_environment_tag: apiEnvironmentTag,
    }),
  }),
  RotatedUserGroup: answer({ user_group: object({ ...identity, api_environment_tag: apiEnvironmentTag }) }),
  StoredUserGroup: answer({
    user_group: object(
      {
        team_id: teamId,
        token: { ...token, description: `${token.description} Only for a \`read-write\` API token.` },
        ...stored,
      },
      ['token'],
    ),
  }),
  UserGroupPage: answer({
    user_groups: { type: 'array', items: object({ team_id: teamId, ...stored }) },
    next_cursor: nextCursor,
  }),
  ResolvedUserGroup: answer({
    user_group: object({
      team_id: teamId,
      provided_id: providedId,
      name: field.name,
      properties: field.properties,
      mapping: field.mapping,
      api_environment_tag: apiEnvironmentTag,
    }),
    token: tokenState,
  }),
  Health: answer({ status: { type: 'string', enum: ['alive', 'ready'] } }),
  OpenApi: { type: 'object', additionalProperties: true, description: 'An OpenAPI 3.1 document.' },
  Page: { type: 'string', description: 'HTML.' },
  Problem: problem,
} as const satisfies Record<string, Schema>;

export type AnswerSchemaName = keyof typeof answerSchemas;

function answer(properties: Record<string, Schema>): Schema {
  return object({ success, ...properties });
}

/** Open: `/v1` grows, and a client must not break when it does. */
function object(
  properties: Record<string, Schema>,
  optional: readonly string[] = [],
  description?: string,
): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties).filter((name) => !optional.includes(name)),
  };
}
