import { embedTokenTypes } from '../../../domain/embed-token/embed-token.ts';
import * as field from '../../../domain/field.ts';
import { timestamp } from '../../../domain/instant.ts';
import { integrationTypes } from '../../../domain/integration.ts';
import { bodyType, invalidField } from '../../../domain/request-body.ts';
import { PresentedToken } from '../../../domain/token.ts';
import { type EmbedTokenBody, mintEmbedToken } from '../../../operations/embed-token/embed-token.ts';
import { listText, successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonObject, successBody } from '../../json.ts';
import { groupOfId, resolutionQuery } from '../../prefetch.ts';
import { objectSchema, successSchema, timestampSchema } from '../../schema.ts';
import { EXAMPLE_TOKEN } from '../user-group/representation.ts';

export const embedTokenBody = bodyType({
  name: 'EmbedTokenRequest',
  fields: {
    integration: { ...field.userGroupId, description: 'The id of the integration.' },
    token: {
      ...field.token,
      description: 'The user group token that the viewer presents. Either this or `user_group_id`.',
    },
    user_group_id: field.userGroupId,
    viewer: {
      ...field.userGroupId,
      description:
        'Your own id of the person who views. Part of the token, for types that have a place for it.',
    },
    resource: {
      type: 'object',
      maxProperties: 10,
      additionalProperties: true,
      description: 'One of `settings.resources` of the integration. May be absent if that has only one.',
    },
    narrow: {
      type: 'object',
      maxProperties: field.limits.mapEntries,
      additionalProperties: true,
      description:
        'Values in place of properties of the user group, for a viewer who may see less: each member is a property that ' +
        'tokens of the integration have, a list some elements of the stored list, anything else the stored value.',
    },
  },
  required: ['integration'],
  convert: ({ value, members }): EmbedTokenBody => {
    const { integration, token, user_group_id: userGroupId, viewer = null } = value;
    if ((token === undefined) === (userGroupId === undefined))
      throw invalidField('/token', 'or user_group_id is required, and not both');
    const group = token === undefined ? { userGroupId: userGroupId! } : { token: new PresentedToken(token) };
    const { resource = null, narrow = null } = Object.fromEntries(members);
    return { integration, group, viewer, resource, narrow };
  },
});

const EXAMPLE_JWT = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleGFtcGxlIjp0cnVlfQ.bm90LWEtc2lnbmF0dXJl';

const text = { type: 'string', minLength: 1 } as const;
const typesWithUrl = listText(embedTokenTypes.flatMap(([type, { url }]) => (url ? [`\`${type}\``] : [])));

export const createEmbedToken = endpoint({
  operationId: 'createEmbedToken',
  method: 'POST',
  paths: ['/v1/embed-tokens'],
  permissions: ['read-write', 'embed'],
  purpose: 'mint embed tokens',
  access: 'read',
  body: embedTokenBody,
  prefetch: (caller, { group }, _request, now) =>
    'token' in group ? resolutionQuery(caller, group.token, now) : groupOfId(caller, group.userGroupId),
  handle: async ({ context, caller, body }) => {
    const { token, type, expiresAt, url } = await mintEmbedToken(context, caller, body);
    return successBody({
      embed_token: jsonObject({
        token: token.reveal(),
        type,
        expires_at: timestamp(expiresAt),
        url: url?.reveal(),
      }),
    });
  },
  description: {
    tag: 'Embed tokens',
    summary: 'Mint an embed token',
    text:
      'Mints a token for the tool of the integration, filled with the stored values of one user group: that of the ' +
      'token that the viewer presents, or the one with the given id. Nothing is stored: mint another token when this one ' +
      'expires. If the user group lacks a value that the integration requires, nothing is minted.\n\n' +
      'With `narrow`, the token has some of the values of the user group, and never others: 422 `claim_invalid`. The token is for the ' +
      "viewer's browser or the tool; it is a credential until `expires_at`, and no later than the end of the grace period " +
      'of the user group token that it was minted for.',
    requests: {
      token: {
        summary: 'For the viewer who presents a user group token',
        value: { integration: 'metabase', token: EXAMPLE_TOKEN },
      },
      id: {
        summary: 'For a user group that your backend has authenticated',
        value: {
          integration: 'metabase',
          user_group_id: 'acme-7',
          viewer: 'user-31',
          resource: { dashboard: 7 },
        },
      },
    },
    responses: {
      201: {
        description: 'The token.',
        schema: successSchema('EmbedToken', {
          embed_token: objectSchema(
            {
              token: { ...text, description: 'A signed JWT.' },
              type: { type: 'string', enum: integrationTypes },
              expires_at: timestampSchema,
              url: { ...text, description: `Where a browser opens the token; only for ${typesWithUrl}.` },
            },
            ['url'],
          ),
        }),
        examples: successExample('minted', 'For Metabase', {
          embed_token: {
            token: EXAMPLE_JWT,
            type: 'metabase',
            expires_at: '2026-03-02T09:40:00.000Z',
            url: `https://metabase.example.com/embed/dashboard/${EXAMPLE_JWT}`,
          },
        }),
      },
    },
    problems: [
      'not_found',
      'user_group_not_found',
      'user_group_token_not_found',
      'claim_missing',
      'claim_invalid',
    ],
  },
});
