import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { QueryResult, UserGroupSummarySearch } from '../../port.ts';
import type { Session, Statement } from '../client/pool.ts';
import { boundsOf, countFitting, FROM_ID, FROM_NAME } from './list.ts';

export const SUMMARIZE_FROM_ID: Statement = {
  name: 'summarize_user_groups_by_id',
  sql: `select ${USER_GROUP_SUMMARY.names}, case when $6 then mapping end ${FROM_ID}`,
};
export const SUMMARIZE_FROM_NAME: Statement = {
  name: 'summarize_user_groups_by_name',
  sql: `select ${USER_GROUP_SUMMARY.names}, case when $7 then mapping end ${FROM_NAME}`,
};

export async function listUserGroupSummaries(
  session: Session,
  search: UserGroupSummarySearch,
): Promise<QueryResult<'listUserGroupSummaries'>> {
  const statement = search.from.order === 'id' ? SUMMARIZE_FROM_ID : SUMMARIZE_FROM_NAME;
  const limit = search.withMappings ? await countFitting(session, search) : search.limit;
  const rows = await session.query(statement, [...boundsOf(search), limit, search.withMappings]);
  return { summaries: rows.map(toUserGroupSummary), isEnd: rows.length < limit };
}
