import type { UserGroupKey } from '../domain/user-group/user-group.ts';
import type { Cell } from './row-shape.ts';

/** Condition on the events of one target in a bucket. It has only columns of an index of SQLite. */
export const HAS_TARGET_IN_BUCKET =
  'workspace_id = $2 and environment = $3 and target_type = $4 and target_id = $5';

/** Condition on the events of one target. */
export const HAS_TARGET = `bucket = $1 and ${HAS_TARGET_IN_BUCKET}`;

/** The parameters of `HAS_TARGET` for the events with the id of a group. */
export function userGroupCells({ bucket, workspaceId, environment, providedId }: UserGroupKey): Cell[] {
  return [bucket, workspaceId, environment, 'user_group', providedId];
}
