import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import { statement } from '../../statement.ts';
import type { QueryExecutor } from '../executor.ts';
import { countFitting, FROM_ID, FROM_NAME, searchBounds } from './list.ts';

export const SUMMARIZE_FROM_ID = statement('summarize_user_groups_by_id')`
  select ${USER_GROUP_SUMMARY.names}, case when $6 then mapping end, case when $7 then properties end ${FROM_ID}`;
export const SUMMARIZE_FROM_NAME = statement('summarize_user_groups_by_name')`
  select ${USER_GROUP_SUMMARY.names}, case when $7 then mapping end, case when $8 then properties end ${FROM_NAME}`;

export const listUserGroupSummaries: QueryExecutor<'listUserGroupSummaries'> = async (session, search) => {
  const statement = search.from.order === 'id' ? SUMMARIZE_FROM_ID : SUMMARIZE_FROM_NAME;
  const { withMappings, withProperties } = search;
  const limit = withMappings || withProperties ? await countFitting(session, search) : search.limit;
  const rows = await session.query(statement, [...searchBounds(search), limit, withMappings, withProperties]);
  return { summaries: rows.map(toUserGroupSummary), isEnd: rows.length < limit };
};
