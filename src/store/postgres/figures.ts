// Figures about an environment.

import { TENANT } from '../entities.ts';
import { statement } from '../statement.ts';
import type { CommandExecutor } from './executor.ts';

const HAS_TENANT = 'workspace_id = $1 and environment = $2';

export const START = statement('start_figures')`
  insert into environment_figures (workspace_id, environment, counting_until) values ($1, $2, $3)
  on conflict (workspace_id, environment) do nothing returning workspace_id`;

export const UPDATE = statement('update_figures')`
  update environment_figures
  set counting_until = $3, counted_at = coalesce($4, counted_at), figures = coalesce($5, figures)
  where ${HAS_TENANT} and counting_until = $6 returning workspace_id`;

export const putFigures: CommandExecutor<'putFigures'> = async (
  session,
  { tenant, expected, countingUntil, counted },
) => {
  const key = [...TENANT.cells(tenant), countingUntil];
  if (expected === null) return (await session.query(START, key)).length === 1;
  const { countedAt = null, figures = null } = counted ?? {};
  return (await session.query(UPDATE, [...key, countedAt, figures, expected])).length === 1;
};
