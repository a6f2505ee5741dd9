// Creating user groups. The primary key decides who creates; whoever comes later reads what is there, in a second
// statement: in Citus one statement that inserts and selects sees a new row twice.
//
// A server that has lost what it had committed gives ids that it had leased to somebody else as well: it inserts
// nothing with an id of a lease that it does not know. A lease is committed before the groups that it has ids for, so
// whichever state a server goes back to, it has the lease of every group that it has.

import { spell, type UserGroup } from '../../domain/user-group.ts';
import { createdUserGroup, USER_GROUP_COLUMNS } from '../rows.ts';
import type { CommandResult, NewUserGroup } from '../store.ts';
import { firstOfEach } from './batch.ts';
import type { Session, Statement } from './pool.ts';
import { byKey, columnsOfKeys, explainLeft } from './user-group.ts';

export const INSERT: Statement = {
  name: 'create_user_groups',
  sql: `insert into user_groups (${USER_GROUP_COLUMNS})
    select bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, 1, token_digest,
      token_key_id, token_ciphertext, null, null, created_at, created_at
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[])
      as sent (bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, token_digest,
        token_key_id, token_ciphertext, created_at)
    where (select count(*) from id_leases where lease = any ($13::text[])) = $14
    on conflict (bucket, workspace_id, environment, provided_id) do nothing
    returning team_id`,
};

export async function createUserGroups(
  session: Session,
  commands: readonly NewUserGroup[],
): Promise<CommandResult<'createUserGroup'>[]> {
  const stored = new Map<string, UserGroup>();
  const firsts = firstOfEach(commands, ({ key }) => spell(key)).sort(byKey);
  // The try before may have made it, and somebody may have deleted it since: its token must not come back.
  if (!session.isRepetition) await insert(session, firsts, stored);
  await explainLeft(session, firsts, stored, (_, found) => found);
  return commands.map(({ key, teamId }) => {
    const userGroup = stored.get(spell(key));
    if (userGroup === undefined) return 'unsettled';
    // No other command has this id. So the group is this command's, also where an earlier try of it made the
    // group and the answer was lost.
    return { created: userGroup.teamId === teamId, userGroup };
  });
}

/** Puts the groups that it makes into `stored`. */
async function insert(
  session: Session,
  commands: readonly NewUserGroup[],
  stored: Map<string, UserGroup>,
): Promise<void> {
  const made = new Set((await session.query(INSERT, valuesOf(commands))).map(([teamId]) => teamId));
  for (const command of commands) {
    if (made.has(command.teamId)) stored.set(spell(command.key), createdUserGroup(command));
  }
}

function valuesOf(commands: readonly NewUserGroup[]): unknown[] {
  const leases = [...new Set(commands.map(({ lease }) => lease))];
  return [
    ...columnsOfKeys(commands),
    commands.map(({ teamId }) => teamId),
    commands.map(({ name }) => name),
    commands.map(({ mapping }) => mapping),
    commands.map(({ properties }) => properties),
    commands.map(({ tokenDigest }) => tokenDigest),
    commands.map(({ sealedToken }) => sealedToken.keyId),
    commands.map(({ sealedToken }) => sealedToken.ciphertext),
    commands.map(({ now }) => now),
    leases,
    leases.length,
  ];
}
