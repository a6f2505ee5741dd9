// Counts of the use of tokens.

import { TENANT, TENANT_WITH_USAGE, USAGE_COUNT } from '../entities.ts';
import type { CommandExecutor, QueryExecutor } from './executor.ts';
import { nextKey } from './next-key.ts';

const INSERT = `insert into usage_counts (${USAGE_COUNT.names}) values (${USAGE_COUNT.parameters}) on conflict`;
const ADD = `${INSERT} do update set count = count + excluded.count`;
const COPY = `${INSERT} do nothing`;
const findNext = nextKey(
  TENANT,
  (condition) => `select ${TENANT_WITH_USAGE.names} from usage_counts where ${condition}
    order by workspace_id, environment, day limit 1`,
);

export const addUsage: CommandExecutor<'addUsage'> = (connection, { counts }) => {
  for (const count of counts) connection.run(ADD, USAGE_COUNT.cells(count));
};

export const copyUsage: CommandExecutor<'copyUsage'> = (connection, { counts }) => {
  for (const count of counts) connection.run(COPY, USAGE_COUNT.cells(count));
};

export const findNextTenantWithUsage: QueryExecutor<'findNextTenantWithUsage'> = (connection, { after }) =>
  TENANT_WITH_USAGE.readOrNull(findNext(connection, TENANT.cellsAfter(after)));
