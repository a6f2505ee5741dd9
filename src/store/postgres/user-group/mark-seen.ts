import { USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import { byKey } from '../../lock-order.ts';
import type { SeenUserGroup } from '../../port.ts';
import { RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { CommandExecutor } from '../executor.ts';
import { isSent, parameterAfter, sentRows, toArrays } from '../sent-rows.ts';

const SEEN = new RowShape<SeenUserGroup>({ key: USER_GROUP_KEY, teamId: USER_GROUP.fields.teamId });
const AT = parameterAfter(SEEN);

export const MARK = statement('mark_user_groups_seen')`
  update user_groups as stored set last_seen_at = ${AT}
  from ${sentRows(SEEN)}
  where ${isSent(SEEN)}
    and (stored.last_seen_at is null or stored.last_seen_at < ${AT})`;

/** Updates in the key order that every process uses. */
export const markSeen: CommandExecutor<'markSeen'> = async (session, { userGroups, at }) => {
  await session.query(MARK, [...toArrays(SEEN, userGroups.toSorted(byKey)), at]);
};
