// Figures about an environment.

import { TENANT } from '../entities.ts';
import type { CommandExecutor } from './executor.ts';

const HAS_TENANT = 'workspace_id = ? and environment = ?';
const START = `insert into environment_figures (workspace_id, environment, counting_until) values (?, ?, ?)
  on conflict do nothing`;
const UPDATE = `update environment_figures
  set counting_until = ?, counted_at = coalesce(?, counted_at), figures = coalesce(?, figures)
  where ${HAS_TENANT} and counting_until = ?`;

export const putFigures: CommandExecutor<'putFigures'> = (
  connection,
  { tenant, expected, countingUntil, counted },
) => {
  const key = TENANT.cells(tenant);
  if (expected === null) return connection.run(START, [...key, countingUntil]) === 1;
  const { countedAt = null, figures = null } = counted ?? {};
  return connection.run(UPDATE, [countingUntil, countedAt, figures, ...key, expected]) === 1;
};
