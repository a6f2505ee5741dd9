import type { Caller } from '../../../domain/api-token.ts';
import * as field from '../../../domain/field.ts';
import { bodyType } from '../../../domain/request-body.ts';
import type { Secret } from '../../../domain/secret.ts';
import { issueApiToken } from '../../../operations/api-token/api-token.ts';
import type { EventContext } from '../../../operations/event/event.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { successBody } from '../../json.ts';
import { apiTokenJson, example, IssuedApiToken, permissionSchema } from './representation.ts';

export const newApiTokenBody = bodyType({
  name: 'ApiTokenRequest',
  fields: {
    name: { ...field.name, description: 'Tells people what the API token is for. Need not be unique.' },
    permission: permissionSchema,
    expires_in_seconds: {
      type: 'integer',
      minimum: 1,
      maximum: field.limits.apiTokenSeconds,
      description: 'Lifetime of the API token. Absent: it does not expire.',
    },
  },
  required: ['name', 'permission'],
  convert: ({ value }) => value,
});

/** Creates the API token that a body describes, with this text or a new one. Throws as `issueApiToken`. */
export function issueAsSent(
  context: EventContext,
  caller: Caller,
  { name, permission, expires_in_seconds: seconds }: ReturnType<typeof newApiTokenBody.read>,
  token?: Secret,
): ReturnType<typeof issueApiToken> {
  const expiresAt = seconds === undefined ? null : context.clock() + seconds * 1_000;
  const options = { limit: field.limits.activeApiTokens, ...(token && { token }) };
  return issueApiToken(context, caller, { name, permission, expiresAt }, options);
}

export const create = endpoint({
  operationId: 'createApiToken',
  method: 'POST',
  paths: ['/v1/api-tokens'],
  permissions: ['admin'],
  purpose: 'create API tokens',
  body: newApiTokenBody,
  handle: async ({ context, caller, body }) => {
    const issued = await issueAsSent(context, caller, body);
    return successBody({ api_token: apiTokenJson(issued.apiToken, issued.token, context.clock()) });
  },
  description: {
    tag: 'API tokens',
    summary: 'Create an API token',
    text:
      "Creates an API token for the caller's workspace and environment. Its text, `token`, is shown only in this " +
      'response; only a digest is stored.\n\n**Not idempotent:** if the response is lost, repeat the call, then find the ' +
      'first API token in the list (its `last_used_at` is null) and revoke it.\n\n' +
      `At most ${field.limits.activeApiTokens} API tokens of a workspace and environment can be active.`,
    requests: {
      expiring: { summary: 'For a dashboard server, for 90 days', value: example.sent },
      admin: { summary: 'For an administrator', value: { name: 'console', permission: 'admin' } },
    },
    responses: {
      201: {
        description: 'The API token, with its text.',
        schema: IssuedApiToken,
        examples: successExample('created', 'Created', { api_token: example.created }),
      },
    },
    problems: ['limit_reached'],
  },
});
