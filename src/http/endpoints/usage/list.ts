import * as field from '../../../domain/field.ts';
import { type Day, dayOfDate } from '../../../domain/usage.ts';
import {
  DEFAULT_USAGE_DAYS,
  listUsage,
  MAX_USAGE_DAYS,
  type UsageEntry,
  type UsageQuery,
} from '../../../operations/usage/list.ts';
import { Problem } from '../../../problem.ts';
import { successExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { Json, jsonArray, jsonObject, successBody } from '../../json.ts';
import { queryType } from '../../request/query.ts';
import { namedSchema, pageSchema } from '../../schema.ts';

const date = {
  type: 'string',
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
  maxLength: 10,
  'x-pattern-detail': 'must be a date such as 2026-03-05',
} as const;

const query = queryType({
  parameters: {
    from: {
      ...date,
      description: `The first day, in UTC. Default: ${DEFAULT_USAGE_DAYS - 1} days before \`to\`.`,
    },
    to: {
      ...date,
      description: `The last day, at most ${MAX_USAGE_DAYS - 1} days after \`from\`. Default: today.`,
    },
    group_by: {
      type: 'string',
      enum: ['day', 'month'],
      default: 'day',
      description: 'Length of a period. A month has only its days between `from` and `to`.',
    },
    user_group_id: { ...field.userGroupId, description: 'Only this user group. It may have been deleted.' },
    integration: {
      ...field.userGroupId,
      description: 'Only user groups and periods with embed tokens of the integration with this id.',
    },
    limit: { ...field.pageLimit, default: 100, description: 'Maximum number of entries per page.' },
    cursor: {
      ...field.cursor,
      description: 'The `next_cursor` of the previous page, for the same parameters.',
    },
  },
  convert: ({ from, to, group_by, user_group_id, integration, limit, cursor }): UsageQuery => ({
    from: dayAt('from', from),
    to: dayAt('to', to),
    groupBy: group_by,
    userGroupId: user_group_id ?? null,
    integration: integration ?? null,
    limit,
    ...(cursor !== undefined && { cursor }),
  }),
});

function dayAt(name: string, text: string | undefined): Day | undefined {
  if (text === undefined) return undefined;
  const day = dayOfDate(text);
  if (day !== null && day >= 0) return day;
  throw new Problem('invalid_request', `The parameter ${name} must be a date that exists, not before 1970.`);
}

const count = { type: 'integer', minimum: 0 } as const;

const usageSchema = namedSchema('Usage', {
  user_group_id: { type: 'string' },
  date: { type: 'string', description: 'The day as `2026-03-05`, or the month as `2026-03`; in UTC.' },
  resolves: { ...count, description: 'Tokens that `POST /v1/resolve` resolved.' },
  introspections: { ...count, description: 'Tokens that `POST /oauth/introspect` found active.' },
  forward_authentications: { ...count, description: 'Requests that forward authentication let through.' },
  embed_tokens: {
    type: 'object',
    additionalProperties: count,
    description:
      'Embed tokens that were minted, by the id of the integration, except test tokens of the console.',
  },
});

function entryJson({ userGroupId, date, embedTokens, ...counts }: UsageEntry): Json {
  const embed_tokens = new Json(JSON.stringify(Object.fromEntries(embedTokens)));
  return jsonObject({ user_group_id: userGroupId, date, ...counts, embed_tokens });
}

const example = {
  user_group_id: 'acme-7',
  date: '2026-03-05',
  resolves: 1_204,
  introspections: 0,
  forward_authentications: 0,
  embed_tokens: { metabase: 12 },
};

export const list = endpoint({
  operationId: 'listUsage',
  method: 'GET',
  paths: ['/v1/usage'],
  permissions: ['read-write', 'read-only'],
  purpose: 'list usage',
  access: 'list',
  query,
  handle: async ({ context, caller, query }) => {
    const { entries, nextCursor } = await listUsage(context, caller, query);
    return successBody({ usage: jsonArray(entries.map(entryJson)), next_cursor: nextCursor });
  },
  description: {
    tag: 'Usage',
    summary: 'List usage by user group and period',
    text:
      "How often the tokens of the user groups in the API token's workspace and environment were used, by day or month. " +
      'In the order of periods, and in one period in the byte order of the ids. A period without use has no entry. Uses ' +
      'of the last minute are not included yet. Kept as long as events, also after a user group was deleted: a month that ' +
      'began earlier has the days that are left.\n\nA page ' +
      'may have fewer entries than `limit`, or none, although more follow: continue with `next_cursor`.',
    responses: {
      200: {
        description: 'A page of usage.',
        schema: pageSchema('UsagePage', 'usage', usageSchema),
        examples: successExample('day', 'A day', { usage: [example], next_cursor: null }),
      },
    },
  },
});
