import * as field from '../../../domain/field.ts';
import { timestampOrNull } from '../../../domain/instant.ts';
import { bodyType } from '../../../domain/request-body.ts';
import { PresentedToken } from '../../../domain/token.ts';
import { tokenNotFound } from '../../../operations/refusals.ts';
import { identifyViewer } from '../../../operations/user-group/resolve.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, raw, successBody } from '../../json.ts';
import { resolutionQuery } from '../../prefetch.ts';
import { objectSchema, successSchema, timestampOrNullSchema } from '../../schema.ts';
import {
  effectiveMappingMembers,
  effectiveMappingNames,
  effectiveMappingSchemas,
} from '../catalogue/effective-mapping.ts';
import {
  EXAMPLE_TOKEN,
  environmentSchema,
  example,
  providedIdSchema,
  teamIdSchema,
} from './representation.ts';

const body = bodyType({
  name: 'TokenResolution',
  fields: { token: field.token },
  required: ['token'],
  convert: ({ value }) => ({ token: new PresentedToken(value.token) }),
});

const tokenState = objectSchema({
  status: {
    type: 'string',
    enum: ['current', 'retiring', 'embed'],
    description:
      '`current`; `retiring`: a replaced token in its grace period; `embed`: an embed token of the type `jwt`.',
  },
  expires_at: timestampOrNullSchema(
    'When the token stops resolving: RFC 3339, UTC. Null if it is `current`.',
  ),
});

export const resolve = endpoint({
  operationId: 'resolveUserGroupToken',
  method: 'POST',
  paths: ['/v1/resolve'],
  permissions: ['read-write', 'read-only', 'resolve', 'embed'],
  purpose: 'resolve tokens',
  access: 'read',
  body,
  prefetch: (caller, { token }, _request, now) => resolutionQuery(caller, token, now),
  handle: async ({ context, caller, body }) => {
    const viewer = await identifyViewer(context, caller, body.token);
    if (viewer === null) throw tokenNotFound();
    const { userGroup, effective, token } = viewer;
    const dataSources = effectiveMappingMembers(effective);
    context.usage.count(userGroup, 'resolves', context.clock());
    return successBody({
      user_group: jsonObject({
        team_id: userGroup.teamId,
        provided_id: userGroup.providedId,
        name: userGroup.name,
        properties: raw(userGroup.properties),
        mapping: raw(userGroup.mapping),
        api_environment_tag: userGroup.environment,
      }),
      ...dataSources,
      token: jsonObject({
        status: token.status,
        expires_at: timestampOrNull(token.expiresAt),
      }),
    });
  },
  description: {
    tag: 'User group tokens',
    summary: 'Resolve a token',
    text:
      'Returns the user group of a token, or of an embed token of the type `jwt`: who is viewing. For a dashboard server, whose API token needs only the ' +
      'permission `resolve`. A token that was rotated or deleted is rejected from the next request on: nothing is cached. An embed ' +
      'token is rejected as soon as its user group changes in any way.',
    requests: { resolve: { summary: 'Resolve', value: { token: EXAMPLE_TOKEN } } },
    responses: {
      200: {
        description: 'The user group of the token.',
        schema: successSchema(
          'ResolvedUserGroup',
          {
            user_group: objectSchema({
              team_id: teamIdSchema,
              provided_id: providedIdSchema,
              name: field.name,
              properties: field.properties,
              mapping: field.mapping,
              api_environment_tag: environmentSchema,
            }),
            ...effectiveMappingSchemas,
            token: tokenState,
          },
          effectiveMappingNames,
        ),
        examples: {
          ...successExample('current', 'The current token', {
            user_group: example.resolved,
            data_sources: {
              '40': {
                data_source_id: 213,
                provided_id: 'acme-orders',
                name: 'Orders of Acme',
                attributes: { host: 'db-7.internal', database: 'acme' },
              },
            },
            unresolved: [],
            token: { status: 'current', expires_at: null },
          }),
          ...successExample('retiring', 'A replaced token in its grace period', {
            user_group: example.resolved,
            data_sources: {},
            unresolved: [{ schema_id: '40', data_source: '213', reason: 'missing' }],
            token: { status: 'retiring', expires_at: '2026-03-06T16:04:12.345Z' },
          }),
        },
      },
    },
    problems: ['user_group_token_not_found', 'limit_reached'],
  },
});
