import { toUserGroupSummary, USER_GROUP_SUMMARY } from '../../entities.ts';
import type { QueryExecutor } from '../executor.ts';
import { readPage } from './list.ts';

export const listUserGroupSummaries: QueryExecutor<'listUserGroupSummaries'> = (connection, search) => {
  const mapping = search.withMappings ? 'mapping' : 'null';
  const properties = search.withProperties ? 'properties' : 'null';
  const columns = `${USER_GROUP_SUMMARY.names}, ${mapping}, ${properties}`;
  const [summaries, isEnd] = readPage(connection, search, columns, toUserGroupSummary, ({ bytes }) => bytes);
  return { summaries, isEnd };
};
