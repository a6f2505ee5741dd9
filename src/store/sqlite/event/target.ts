// Condition on the events of one target, and its parameters.

import type { EventTarget } from '../../../domain/event/event.ts';
import type { Tenant } from '../../../domain/tenant.ts';
import type { UserGroupKey } from '../../../domain/user-group/user-group.ts';
import type { Cell } from '../../row-shape.ts';

export const HAS_TARGET = 'workspace_id = ? and environment = ? and target_type = ? and target_id = ?';

/** The parameters of `HAS_TARGET`. */
export function targetCells({ workspaceId, environment }: Tenant, { type, id }: EventTarget): Cell[] {
  return [workspaceId, environment, type, id];
}

/** The same for the events with the id of a group. */
export function userGroupCells(key: UserGroupKey): Cell[] {
  return targetCells(key, { type: 'user_group', id: key.providedId });
}
