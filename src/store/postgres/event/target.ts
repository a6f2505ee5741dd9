// Conditions on the events of one target. A range of positions compares whole keys: for a condition on the position alone,
// PostgreSQL chooses the index of the feed if most environments have few events, and reads those of all targets. Only the
// first rows of a range may be read, in its order: PostgreSQL expects many rows in it, and would choose that index too.

import type { UserGroupKey } from '../../../domain/user-group/user-group.ts';
import type { Cell } from '../../row-shape.ts';

export const HAS_TARGET =
  'bucket = $1 and workspace_id = $2 and environment = $3 and target_type = $4 and target_id = $5';

/** The parameters of `HAS_TARGET` for the events with the id of a group. */
export function userGroupCells({ bucket, workspaceId, environment, providedId }: UserGroupKey): Cell[] {
  return [bucket, workspaceId, environment, 'user_group', providedId];
}

const COLUMNS = ['workspace_id', 'environment', 'target_type', 'target_id', 'position'];
const IN_BUCKET = `(${COLUMNS.join(', ')})`;
/**
 * After position $6, up to position $7. The bucket is apart, so that Citus finds the shard; PostgreSQL would not start at
 * the position if the comparison contained it too.
 */
export const IN_RANGE = `bucket = $1 and ${IN_BUCKET} > ($2, $3, $4, $5, $6) and ${IN_BUCKET} <= ($2, $3, $4, $5, $7)`;

export const OLDEST_FIRST = COLUMNS.join(', ');
export const NEWEST_FIRST = COLUMNS.map((name) => `${name} desc`).join(', ');
