// Creates user groups. The primary key decides who creates; the others read the existing row in a second statement,
// because on Citus one statement that inserts and selects sees a new row twice.
//
// A server that was restored to an earlier state would lease the same ids again. So an insert requires that the lease
// of its id is known. A lease is committed before the groups that use it: whatever state a server goes back to, it has
// the lease of each of its groups.

import { userGroupChanges } from '../../../domain/event/changes.ts';
import { keyToString, type UserGroup } from '../../../domain/user-group/user-group.ts';
import { createdUserGroup, USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import { byKey } from '../../lock-order.ts';
import type { CommandResult, NewUserGroup } from '../../port.ts';
import { RowShape } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import { firstOfEach } from '../batch.ts';
import type { Session } from '../client/session.ts';
import { record, recordForTokens } from '../event/record.ts';
import { parameterAfter, sentRows, toArrays } from '../sent-rows.ts';
import { explainUnapplied } from './user-group.ts';

const SENT = new RowShape<Omit<NewUserGroup, 'lease' | 'event'>>({
  key: USER_GROUP_KEY,
  ...USER_GROUP.pick('teamId', 'name', 'mapping', 'properties', 'tokenDigest', 'sealedToken').fields,
  now: USER_GROUP.fields.createdAt,
  suspendedAt: USER_GROUP.fields.suspendedAt,
});

const LEASES = parameterAfter(SENT);
const LEASE_COUNT = parameterAfter(SENT, 2);

export const INSERT = statement('create_user_groups')`
  insert into user_groups (${SENT.names}, version, updated_at)
  select ${SENT.names}, 1, created_at
  from ${sentRows(SENT)}
  where (select count(*) from id_leases where lease = any (${LEASES}::text[])) = ${LEASE_COUNT}
  on conflict (bucket, workspace_id, environment, provided_id) do nothing
  returning team_id`;

export async function createUserGroups(
  session: Session,
  commands: readonly NewUserGroup[],
): Promise<CommandResult<'createUserGroup'>[]> {
  const stored = new Map<string, UserGroup>();
  const firsts = firstOfEach(commands, ({ key }) => keyToString(key)).sort(byKey);
  // An earlier attempt may have created it, and another caller may have deleted it since: do not revive its token.
  if (!session.isRepetition) await insert(session, firsts, stored);
  await explainUnapplied(session, firsts, stored, (_, found) => found);
  return commands.map(({ key, teamId }) => {
    const userGroup = stored.get(keyToString(key));
    if (userGroup === undefined) return 'unsettled';
    // The id is unique to this command, so the group is ours even if an earlier attempt created it and its response
    // was lost.
    return { created: userGroup.teamId === teamId, userGroup };
  });
}

/** Adds the created groups to `stored`. */
async function insert(
  session: Session,
  commands: readonly NewUserGroup[],
  stored: Map<string, UserGroup>,
): Promise<void> {
  const leases = [...new Set(commands.map(({ lease }) => lease))];
  // In one pipeline, and so in one transaction.
  const [rows] = await Promise.all([
    session.query(INSERT, [...toArrays(SENT, commands), leases, leases.length]),
    !session.isDistributed && recordForTokens(session, commands.map(creationRow)),
  ]);
  const made = new Set(rows.map(([teamId]) => teamId));
  for (const command of commands) {
    if (made.has(command.teamId)) stored.set(keyToString(command.key), createdUserGroup(command));
  }
  if (session.isDistributed) {
    await record(
      session,
      commands
        .filter(({ teamId }) => made.has(teamId))
        .map((command) => ({ ...creationRow(command), version: 1 })),
    );
  }
}

function creationRow({ event, tokenDigest, name, mapping, properties, suspendedAt }: NewUserGroup) {
  return {
    event,
    tokenDigest,
    changes: userGroupChanges(null, { name, mapping, properties, suspendedAt }),
  };
}
