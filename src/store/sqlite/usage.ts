// Counts of the use of tokens.

import { USAGE_COUNT } from '../entities.ts';
import type { CommandExecutor } from './executor.ts';

const INSERT = `insert into usage_counts (${USAGE_COUNT.names}) values (${USAGE_COUNT.parameters}) on conflict`;
const ADD = `${INSERT} do update set count = count + excluded.count`;
const COPY = `${INSERT} do nothing`;

export const addUsage: CommandExecutor<'addUsage'> = (connection, { counts }) => {
  for (const count of counts) connection.run(ADD, USAGE_COUNT.cells(count));
};

export const copyUsage: CommandExecutor<'copyUsage'> = (connection, { counts }) => {
  for (const count of counts) connection.run(COPY, USAGE_COUNT.cells(count));
};
