// API tokens in responses: members, schema and example.

import { type ApiToken, apiTokenStatus, permissions, previousTextUntil } from '../../../domain/api-token.ts';
import { assignedNumber } from '../../../domain/field.ts';
import { timestamp, timestampOrNull } from '../../../domain/instant.ts';
import type { Secret } from '../../../domain/secret.ts';
import { environments } from '../../../domain/tenant.ts';
import { type Json, jsonObject } from '../../json.ts';
import {
  namedSchema,
  objectSchema,
  type Schema,
  successSchema,
  timestampOrNullSchema,
  timestampSchema,
} from '../../schema.ts';

/** `token` is null except in the response to the call that issued it. */
export function apiTokenJson(apiToken: ApiToken, token: Secret | null, now: number): Json {
  return jsonObject({
    api_token_id: apiToken.apiTokenId,
    token: token?.reveal(),
    name: apiToken.name,
    permission: apiToken.permission,
    environment: apiToken.environment,
    status: apiTokenStatus(apiToken, now),
    created_at: timestamp(apiToken.createdAt),
    expires_at: timestampOrNull(apiToken.expiresAt),
    revoked_at: timestampOrNull(apiToken.revokedAt),
    last_used_at: timestampOrNull(apiToken.lastUsedAt),
    previous_token_expires_at: timestampOrNull(previousTextUntil(apiToken, now)),
  });
}

export const permissionSchema = {
  type: 'string',
  enum: permissions,
  description: 'What the API token permits.',
} as const satisfies Schema;

const schemas = {
  name: {
    type: ['string', 'null'],
    description: 'Null only for an API token that was created on the command line.',
  },
  permission: permissionSchema,
  environment: {
    type: 'string',
    enum: environments,
    description: 'The environment whose user groups it can access.',
  },
  status: {
    type: 'string',
    enum: ['active', 'expired', 'revoked'],
    description: 'Only an active API token authenticates.',
  },
  created_at: timestampSchema,
  expires_at: timestampOrNullSchema('When it expires; null: never.'),
  revoked_at: timestampOrNullSchema('When it was revoked; null if it was not.'),
  last_used_at: timestampOrNullSchema(
    'The hour of the last request that it authenticated; null: not used yet.',
  ),
  previous_token_expires_at: timestampOrNullSchema(
    'Until when the text that the last rotation replaced still authenticates; null if it does not.',
  ),
} as const satisfies Record<string, Schema>;

const api_token_id = {
  ...assignedNumber,
  description: 'Number of the API token. Not a secret; never reused.',
} as const satisfies Schema;

export const listedSchema = namedSchema('ApiToken', { api_token_id, ...schemas });

export const StoredApiToken = successSchema('StoredApiToken', { api_token: listedSchema });

export const IssuedApiToken = successSchema('IssuedApiToken', {
  api_token: objectSchema({
    api_token_id,
    token: {
      type: 'string',
      minLength: 1,
      description: 'The text to send as `Authorization: Token …`. Not stored, and not shown again.',
    },
    ...schemas,
  }),
});

const EXAMPLE_TEXT = 'uga_ExampleDoNotUse…';

const name = 'dashboard server';
const created = {
  permission: 'resolve',
  environment: 'Customer',
  status: 'active',
  created_at: '2026-03-02T09:30:00.000Z',
  expires_at: '2026-05-31T09:30:00.000Z',
  revoked_at: null,
  last_used_at: null,
  previous_token_expires_at: null,
};
const used = { ...created, last_used_at: '2026-03-05T16:00:00.000Z' };

/** One API token, in every form that a request or response has. */
export const example = {
  sent: { name, permission: 'resolve', expires_in_seconds: 7_776_000 },
  created: { api_token_id: 7, token: EXAMPLE_TEXT, name, ...created },
  stored: { api_token_id: 7, name, ...used },
  rotated: {
    api_token_id: 7,
    token: EXAMPLE_TEXT,
    name,
    ...used,
    previous_token_expires_at: '2026-03-05T17:04:12.345Z',
  },
};
