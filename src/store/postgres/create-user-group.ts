// Creating user groups. The primary key decides who creates; whoever comes later reads what is there, in a second
// statement: in Citus one statement that inserts and selects sees a new row twice.

import { spell, type UserGroup } from '../../domain/user-group.ts';
import { createdUserGroup, USER_GROUP_COLUMNS } from '../rows.ts';
import type { CommandResult, NewUserGroup } from '../store.ts';
import { firstOfEach } from './batch.ts';
import type { Session, Statement } from './pool.ts';
import { columnsOfKeys, explainLeft, settle } from './user-group.ts';

export const INSERT: Statement = {
  name: 'create_user_groups',
  sql: `insert into user_groups (${USER_GROUP_COLUMNS})
    select bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, 1, token_digest,
      token_key_id, token_ciphertext, null, null, created_at, created_at
    from unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[])
      as sent (bucket, workspace_id, environment, provided_id, team_id, name, mapping, properties, token_digest,
        token_key_id, token_ciphertext, created_at)
    on conflict (bucket, workspace_id, environment, provided_id) do nothing
    returning team_id`,
};

export async function createUserGroups(
  session: Session,
  commands: readonly NewUserGroup[],
): Promise<CommandResult<'createUserGroup'>[]> {
  const stored = new Map<string, UserGroup>();
  const firsts = firstOfEach(commands, ({ key }) => spell(key));
  if (session.isRepetition) await explainLeft(session, firsts, stored, (_, found) => found);
  else await settle(firsts, (rest) => insertOrFind(session, rest, stored));
  return commands.map(({ key, teamId }) => {
    const userGroup = stored.get(spell(key));
    // The try before may have made it, and somebody may have deleted it since: its token must not come back.
    if (userGroup === undefined) return 'unsettled';
    // No other command has this id. So the group is this command's, also where an earlier try of it made the
    // group and the answer was lost.
    return { created: userGroup.teamId === teamId, userGroup };
  });
}

/** Puts groups into `stored`, made or found; returns the commands whose group was deleted between the two. */
async function insertOrFind(
  session: Session,
  commands: readonly NewUserGroup[],
  stored: Map<string, UserGroup>,
): Promise<NewUserGroup[]> {
  const made = new Set((await session.query(INSERT, columnsOf(commands))).map(([teamId]) => teamId));
  for (const command of commands) {
    if (made.has(command.teamId)) stored.set(spell(command.key), createdUserGroup(command));
  }
  return explainLeft(session, commands, stored, (_, found) => found);
}

function columnsOf(commands: readonly NewUserGroup[]): unknown[][] {
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
  ];
}
