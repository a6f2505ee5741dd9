// What the description of the API says of each operation: the words, the examples and the answers. Methods, paths,
// permissions and the schemas of bodies and parameters are those of the table of operations.

import { tokenNotFound, userGroupNotFound, versionMismatch } from '../../operations/context.ts';
import type { ProblemCode } from '../../problem.ts';
import * as example from './example.ts';
import type { AnswerHeader } from './header.ts';
import type { Example } from './object.ts';
import type { AnswerSchemaName } from './schema.ts';

export const tags = {
  'User groups': 'Your customers, each by your own id of it.',
  'User group tokens': 'What tells a dashboard who is viewing.',
  Service: 'For supervisors, load balancers and readers. These need no API token.',
} as const;

export interface AnswerDescription {
  description: string;
  headers?: readonly AnswerHeader[];
  /** Absent where the answer has no body. */
  schema?: AnswerSchemaName;
  /** application/json where it is absent. */
  mediaType?: string;
  examples?: Readonly<Record<string, Example>>;
}

export interface OperationDescription {
  tag: keyof typeof tags;
  summary: string;
  /** CommonMark, of which the documentation shows paragraphs, lists, code, strong text and links. */
  description: string;
  /** Bodies that the operation accepts. */
  requests?: Readonly<Record<string, Example>>;
  /** By their statuses. */
  answers: Readonly<Record<number, AnswerDescription>>;
  /** The codes that can occur here beside those of all operations of its kind, and what each says then. */
  problems?: Readonly<Partial<Record<ProblemCode, string>>>;
}

const changed = { version_mismatch: versionMismatch().message };
const nobody = { user_group_not_found: userGroupNotFound().message };
const nameless = { user_group_not_found: userGroupNotFound(' Send a name with it to create one.').message };
const noToken = { user_group_token_not_found: tokenNotFound().message };

const conditional =
  '\n\nWith `If-Match: "…"`, an `ETag` that an answer has shown, nothing is changed where the group has another ' +
  'version by now: 412 `version_mismatch`.';

const found = {
  headers: ['ETag', 'User-Group-Drift'],
  schema: 'FoundUserGroup',
} as const satisfies Partial<AnswerDescription>;

const foundExamples = {
  found: {
    summary: 'There is such a group',
    value: { success: 1, new_user_group: false, user_group: example.found },
  },
  lookUp: {
    summary: 'There is one, and the request has no properties',
    value: { success: 1, new_user_group: false, user_group: example.identity },
  },
};

const created = {
  summary: 'Created',
  value: { success: 1, new_user_group: true, user_group: example.found },
};

const userGroupRequests = {
  create: { summary: 'Get the group, or create it', value: example.sent },
  lookUp: { summary: 'Only look', value: { user_group_id: example.sent.user_group_id } },
};

const storedExamples = {
  readWrite: {
    summary: 'For an API token that is read-write',
    value: { success: 1, user_group: example.stored },
  },
};

export const operationDescriptions = {
  getOrCreateUserGroup: {
    tag: 'User groups',
    summary: 'Get or create a user group',
    description:
      'Returns the user group of this id as it is stored, or creates it where there is none and a `name` is sent. ' +
      'Without a `name` it is a pure look-up.\n\n' +
      '- A group that exists is **not changed**. Where a sent field differs from the stored one, the header ' +
      '`User-Group-Drift` names it.\n' +
      '- Of any number of concurrent first calls exactly one creates, and all answer the same token.\n' +
      '- `properties` is in the answer exactly where it is in the request.\n\n' +
      "The body stands on a GET, which many clients and proxies refuse or drop (`fetch`, OkHttp, CloudFront, Google's " +
      'load balancer): `POST /v1/user-groups` takes the same body and gives the same answer.',
    requests: userGroupRequests,
    answers: {
      200: { description: 'The user group.', ...found, examples: { created, ...foundExamples } },
    },
    problems: nameless,
  },
  updateUserGroup: {
    tag: 'User groups',
    summary: 'Update a user group',
    description:
      'Changes the user group of the id. A field that is absent stays as it is; one that is sent replaces the stored ' +
      'one whole, nothing is merged. `mapping: null` and `properties: null` clear; a `name` cannot be cleared. ' +
      `A group that does not exist is not created.${conditional}`,
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
    answers: {
      200: {
        description: 'The user group after the change.',
        headers: ['ETag'],
        schema: 'UpdatedUserGroup',
        examples: { updated: { summary: 'Updated', value: { success: 1, user_group: example.updated } } },
      },
    },
    problems: {
      user_group_not_found: userGroupNotFound(' GET /api/user with a name creates one.').message,
      ...changed,
    },
  },
  rotateUserGroupToken: {
    tag: 'User group tokens',
    summary: 'Rotate a token',
    description:
      'Gives the group a new token, valid when the answer is sent. The old one resolves until its grace period ends; ' +
      'with 0 seconds, which is the default unless the operator sets another, it is dead at once, in every process. ' +
      'At most one old token is alive: a second rotation ends the grace of an older one.\n\n' +
      '**Repeat it safely.** The token that the last rotation has replaced gives the same new one again and rotates ' +
      'nothing, so a lost answer loses nothing.',
    requests: {
      atOnce: { summary: 'The old token dies at once', value: { current_token: example.TOKEN } },
      grace: {
        summary: 'The old token resolves for another day',
        value: { current_token: example.TOKEN, grace_period_seconds: 86_400 },
      },
    },
    answers: {
      200: {
        description: 'The user group with its new token. Save it.',
        headers: ['ETag'],
        schema: 'RotatedUserGroup',
        examples: { rotated: { summary: 'Rotated', value: { success: 1, user_group: example.rotated } } },
      },
    },
    problems: noToken,
  },
  createUserGroup: {
    tag: 'User groups',
    summary: 'Get or create, by POST',
    description:
      'The same call as `GET /api/user`, for clients and proxies that cannot send a body with GET. It answers 201 ' +
      'where it has created, else 200.',
    requests: userGroupRequests,
    answers: {
      200: {
        description: 'The user group, which was there and is not changed.',
        ...found,
        examples: foundExamples,
      },
      201: {
        description: 'The user group, which this call has created.',
        headers: ['ETag'],
        schema: 'FoundUserGroup',
        examples: { created },
      },
    },
    problems: nameless,
  },
  readUserGroup: {
    tag: 'User groups',
    summary: 'Read a user group',
    description:
      'Returns all that is stored of the user group. `token` is there only where the API token is `read-write`.',
    answers: {
      200: {
        description: 'The user group.',
        headers: ['ETag'],
        schema: 'StoredUserGroup',
        examples: {
          ...storedExamples,
          readOnly: {
            summary: 'For an API token that is read-only',
            value: { success: 1, user_group: { ...example.listed } },
          },
        },
      },
    },
    problems: nobody,
  },
  patchUserGroup: {
    tag: 'User groups',
    summary: 'Change parts of a user group',
    description:
      'A JSON Merge Patch (RFC 7396) of `name`, `mapping` and `properties`: a member that is sent is set, one that ' +
      'is null is removed, the others stay; so it goes in every object within. `mapping: null` and `properties: null` ' +
      `clear. What others change meanwhile is not lost.${conditional}`,
    requests: {
      member: {
        summary: 'Set one property and remove another',
        value: { properties: { seats: 30, trial: null } },
      },
      rename: { summary: 'Rename', value: { name: 'Acme Corporation' } },
    },
    answers: {
      200: {
        description: 'The user group after the change.',
        headers: ['ETag'],
        schema: 'StoredUserGroup',
        examples: storedExamples,
      },
    },
    problems: { ...nobody, ...changed },
  },
  deleteUserGroup: {
    tag: 'User groups',
    summary: 'Delete a user group',
    description:
      'The group is gone, its token is dead at once in every process, and its id is free: the next group of that id ' +
      `has another \`team_id\` and another token.${conditional}`,
    answers: { 204: { description: 'The user group is deleted.' } },
    problems: { ...nobody, ...changed },
  },
  listUserGroups: {
    tag: 'User groups',
    summary: 'List user groups',
    description:
      "The user groups of the API token's workspace and environment, without their tokens. Ask for the next page " +
      'with `next_cursor` until it is null, also after a page with fewer groups than `limit`. A group that stays in the list while others come and go is neither ' +
      'repeated nor left out, and every page takes the same time.',
    answers: {
      200: {
        description: 'A page of user groups.',
        schema: 'UserGroupPage',
        examples: {
          last: {
            summary: 'The last page',
            value: { success: 1, user_groups: [example.listed], next_cursor: null },
          },
        },
      },
    },
  },
  resolveUserGroupToken: {
    tag: 'User group tokens',
    summary: 'Resolve a token',
    description:
      'Tells whose token a viewer presents: who is viewing. For a dashboard server, whose API token needs the permission `resolve` ' +
      'and no more. A token that was rotated away or deleted is refused from the next request on: there is no cache ' +
      'to wait for.',
    requests: { resolve: { summary: 'Resolve', value: { token: example.TOKEN } } },
    answers: {
      200: {
        description: 'The user group of the token.',
        schema: 'ResolvedUserGroup',
        examples: {
          current: {
            summary: 'The token that the group has',
            value: {
              success: 1,
              user_group: example.resolved,
              token: { status: 'current', expires_at: null },
            },
          },
          retiring: {
            summary: 'A replaced token in its grace period',
            value: {
              success: 1,
              user_group: example.resolved,
              token: { status: 'retiring', expires_at: '2026-03-06T16:04:12.345Z' },
            },
          },
        },
      },
    },
    problems: noToken,
  },
} as const satisfies Record<string, OperationDescription>;

/** An operation of the table has one of these names, so that none is added without a description. */
export type OperationId = keyof typeof operationDescriptions;
