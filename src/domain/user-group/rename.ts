// Renames of user groups, which connect the history of a group under its ids.

import { Changes } from '../event/changes.ts';
import { jsonText } from '../json/json-tree.ts';
import type { UserGroupKey } from './user-group.ts';

/** A rename as seen from one of its two ids. */
export interface Rename extends UserGroupKey {
  /** Position of its event, which has the new id. */
  position: number;
  eventId: string;
  /** `to`: the group left this id for the other one; `from`: it came from the other one. */
  direction: 'from' | 'to';
  otherId: string;
  teamId: number;
}

/** The changes of the event. */
export function renameChanges(from: string, to: string): Changes {
  return new Changes({ user_group_id: jsonText(from) }, { user_group_id: jsonText(to) });
}
