import * as field from '../../../domain/field.ts';
import { parseInstant } from '../../../domain/instant.ts';
import { invalidFields } from '../../../domain/user-group/user-group-filter.ts';
import { type ListQuery, listUserGroups } from '../../../operations/user-group/list.ts';
import { Problem } from '../../../problem.ts';
import { lastPageExample } from '../../description.ts';
import { endpoint } from '../../endpoint.ts';
import { jsonArray, successBody } from '../../json.ts';
import { queryType } from '../../request/query.ts';
import { pageSchema } from '../../schema.ts';
import { example, listedSchema, storedJson } from './representation.ts';

const query = queryType({
  parameters: {
    limit: field.pageLimit,
    cursor: {
      ...field.cursor,
      description:
        'The `next_cursor` of the previous page, for the same search and filters. Absent for the first page.',
    },
    search: field.search,
    match: {
      type: 'string',
      enum: ['prefix', 'contains'],
      default: 'prefix',
      description: 'How `search` matches.',
    },
    data_source: {
      ...field.text,
      description:
        'Only user groups that use this data source, which is your id of it or its number: the mapping refers to it, either ' +
        'way, or has no entry for a schema whose default it is.',
    },
    suspended: {
      type: 'boolean',
      description: 'Only user groups that are suspended, or only those that are not.',
    },
    seen_before: {
      ...field.instant,
      description: 'Only user groups whose `last_seen_at` is before this instant (RFC 3339) or null.',
    },
    never_seen: {
      type: 'boolean',
      description: 'Only user groups that were never seen, or only those that were.',
    },
    created_since: {
      ...field.instant,
      description: 'Only user groups that were created at this instant (RFC 3339) or later.',
    },
    invalid: {
      type: 'string',
      enum: invalidFields,
      description:
        'Only user groups whose mapping violates the catalogue, or whose properties violate the property schema, whatever the modes of the policies.',
    },
  },
  convert: ({ data_source, seen_before, never_seen, created_since, ...rest }): ListQuery => {
    // The default adds no condition: many generated clients always send it.
    if (rest.match === 'contains' && rest.search === undefined)
      throw new Problem('invalid_request', 'The parameter match requires the parameter search.');
    return {
      ...rest,
      ...(data_source !== undefined && { dataSource: data_source }),
      ...(seen_before !== undefined && { seenBefore: parseInstant(seen_before)! }),
      ...(never_seen !== undefined && { neverSeen: never_seen }),
      ...(created_since !== undefined && { createdSince: parseInstant(created_since)! }),
    };
  },
});

export const list = endpoint({
  operationId: 'listUserGroups',
  method: 'GET',
  paths: ['/v1/user-groups'],
  permissions: ['read-write', 'read-only'],
  purpose: 'list user groups',
  access: 'list',
  query,
  handle: async ({ context, caller, query }) => {
    const { userGroups, nextCursor } = await listUserGroups(context, caller, query);
    return successBody({
      user_groups: jsonArray(userGroups.map((userGroup) => storedJson(userGroup, null))),
      next_cursor: nextCursor,
    });
  },
  description: {
    tag: 'User groups',
    summary: 'List user groups',
    text:
      "The user groups of the API token's workspace and environment, without their tokens. Request the next page " +
      'with `next_cursor` until it is null, even after a page with fewer groups than `limit`. A group that exists ' +
      'throughout under the same id is listed exactly once while others are created and deleted, and every page takes ' +
      'the same time.\n\n' +
      '`match=contains` and the filters read at most 5,000 groups per page: a page that ends early has fewer groups than ' +
      '`limit`, or none, and a `next_cursor`, because more may follow. A group is returned if it meets every condition that is sent.',
    responses: {
      200: {
        description: 'A page of user groups.',
        schema: pageSchema('UserGroupPage', 'user_groups', listedSchema),
        examples: lastPageExample('user_groups', example.listed),
      },
    },
  },
});
