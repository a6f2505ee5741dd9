import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { QueryResult, UserGroupSummary, UserGroupSummarySearch } from '../../port.ts';
import type { Connection } from '../file/connection.ts';
import { searchRows } from './list.ts';

export function listUserGroupSummaries(
  connection: Connection,
  search: UserGroupSummarySearch,
): QueryResult<'listUserGroupSummaries'> {
  const mapping = search.withMappings ? 'mapping' : 'null';
  const properties = search.withProperties ? 'properties' : 'null';
  const summaries: UserGroupSummary[] = [];
  let bytes = 0;
  for (const row of searchRows(
    connection,
    search,
    `${USER_GROUP_SUMMARY.names}, ${mapping}, ${properties}`,
  )) {
    const summary = toUserGroupSummary(row);
    summaries.push(summary);
    bytes += summary.bytes;
    if (bytes >= search.maxBytes) return { summaries, isEnd: false };
  }
  return { summaries, isEnd: summaries.length < search.limit };
}
