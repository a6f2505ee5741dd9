import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { UserGroupSummary } from '../../port.ts';
import type { QueryExecutor } from '../executor.ts';
import { searchRows } from './list.ts';

export const listUserGroupSummaries: QueryExecutor<'listUserGroupSummaries'> = (connection, search) => {
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
};
