import * as field from '../../../domain/field.ts';
import { type BodyType, invalidField } from '../../../domain/request-body.ts';
import { environments } from '../../../domain/tenant.ts';
import { PresentedToken } from '../../../domain/token.ts';
import { type Introspection, introspectToken } from '../../../operations/user-group/introspect.ts';
import { Problem } from '../../../problem.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, raw } from '../../json.ts';
import { resolutionQuery } from '../../prefetch.ts';
import { decodeParameters } from '../../request/query.ts';
import { namedSchema } from '../../schema.ts';
import {
  effectiveMappingMembers,
  effectiveMappingNames,
  effectiveMappingSchemas,
} from '../catalogue/effective-mapping.ts';
import { EXAMPLE_TOKEN, example, providedIdSchema, teamIdSchema } from './representation.ts';

const parameters = {
  token: { ...field.token, description: 'A user group token, or an embed token of the type `jwt`.' },
  token_type_hint: { type: 'string', description: 'Accepted and not used: every token is looked up.' },
};

/**
 * A form. As RFC 6749 §3.2 requires, unknown parameters are ignored, one without a value counts as absent, and none may
 * be repeated.
 */
const body: BodyType<{ token: PresentedToken }> = {
  // Without additionalProperties, which code generators do not accept in forms.
  schema: { title: 'TokenIntrospection', type: 'object', properties: parameters, required: ['token'] },
  isRequired: true,
  read: (bytes) => {
    const values = new Map<string, string>();
    for (const [name, text] of decodeParameters(bytes.toString(), 'The body')) {
      if (!Object.hasOwn(parameters, name) || text === '') continue;
      if (values.has(name)) throw new Problem('invalid_request', `Duplicate parameter ${name}.`);
      values.set(name, text);
    }
    const token = values.get('token');
    if (token === undefined) throw invalidField('/token', 'is required');
    return { token: new PresentedToken(token) };
  },
};

const INACTIVE = '{"active":false}';

function activeBody({ userGroup, effective, token, issuer }: Introspection): string {
  return jsonObject({
    active: true,
    sub: userGroup.providedId,
    iss: issuer,
    token_type: 'Bearer',
    exp: token.expiresAt === null ? undefined : Math.floor(token.expiresAt / 1_000),
    user_group: jsonObject({
      id: userGroup.teamId,
      provided_id: userGroup.providedId,
      name: userGroup.name,
      environment: userGroup.environment,
      version: userGroup.version,
      mapping: raw(userGroup.mapping),
      properties: raw(userGroup.properties),
      ...effectiveMappingMembers(effective),
    }),
  }).text;
}

const { team_id: id, provided_id, name, mapping, properties } = example.resolved;
const exampleGroup = { id, provided_id, name, environment: 'Customer', version: 3, mapping, properties };

export const introspect = endpoint({
  operationId: 'introspectToken',
  method: 'POST',
  paths: ['/oauth/introspect'],
  permissions: ['read-write', 'read-only', 'resolve', 'embed'],
  purpose: 'resolve tokens',
  access: 'read',
  protocol: 'oauth',
  body,
  mediaTypes: ['application/x-www-form-urlencoded'],
  prefetch: (caller, { token }, _request, now) => resolutionQuery(caller, token, now),
  handle: async ({ context, caller, body: { token } }) => {
    const introspection = await introspectToken(context, caller, token);
    if (introspection === null) return INACTIVE;
    const active = activeBody(introspection);
    context.usage.count(introspection.userGroup, 'introspections', context.clock());
    return active;
  },
  description: {
    tag: 'User group tokens',
    summary: 'Introspect a token (RFC 7662)',
    text:
      'Says who is viewing to software that knows OAuth 2.0 token introspection, such as API gateways. The same lookup as ' +
      'resolve, so a token that was rotated, suspended or deleted is not active from the next request on.\n\n' +
      'The API token is sent as `Authorization: Bearer`, as the password of `Authorization: Basic` with any user name, or ' +
      'as `Authorization: Token`. Errors with the status 400 or 401 have the member `error` of RFC 6749. Unknown ' +
      'parameters are ignored, as OAuth requires.',
    requests: { introspection: { summary: 'Introspect', value: { token: EXAMPLE_TOKEN } } },
    responses: {
      200: {
        description:
          'Whether the token is valid now, and whose it is. `{"active": false}` for every other token, whatever the reason.',
        schema: namedSchema(
          'IntrospectedToken',
          {
            active: {
              type: 'boolean',
              description: 'Whether the token is valid now. Only then are the other members present.',
            },
            sub: { ...providedIdSchema, description: 'The `user_group_id` of the user group.' },
            iss: {
              type: 'string',
              description: 'The URL of the service, or the claim `iss` of an embed token.',
            },
            token_type: { type: 'string', const: 'Bearer' },
            exp: {
              type: 'integer',
              description:
                'When the token stops working, in seconds since 1970. Absent if it does not expire.',
            },
            user_group: namedSchema(
              'IntrospectedUserGroup',
              {
                id: teamIdSchema,
                provided_id: providedIdSchema,
                name: field.name,
                environment: { type: 'string', enum: environments },
                version: { type: 'integer', minimum: 1 },
                mapping: field.mapping,
                properties: field.properties,
                ...effectiveMappingSchemas,
              },
              effectiveMappingNames,
            ),
          },
          ['sub', 'iss', 'token_type', 'exp', 'user_group'],
        ),
        examples: {
          active: {
            summary: 'A valid token',
            value: {
              active: true,
              sub: exampleGroup.provided_id,
              iss: 'https://groups.example.com',
              token_type: 'Bearer',
              user_group: exampleGroup,
            },
          },
          inactive: { summary: 'Any other token', value: { active: false } },
        },
      },
    },
    problems: ['limit_reached'],
  },
});
