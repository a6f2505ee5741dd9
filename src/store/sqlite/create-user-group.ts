import type { CommandResult, NewUserGroup } from '../port.ts';
import { createdUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import type { Connection } from './connection.ts';
import { findByKey, partsOf } from './user-group.ts';

const CREATE = `insert into user_groups (${USER_GROUP_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, null, null, ?, ?)
  on conflict (workspace_id, environment, provided_id) do nothing`;

export function createUserGroup(
  connection: Connection,
  command: NewUserGroup,
): Exclude<CommandResult<'createUserGroup'>, 'unsettled'> {
  const { key, sealedToken, now } = command;
  const created = connection.run(CREATE, [
    ...partsOf(key),
    command.teamId,
    command.name,
    command.mapping,
    command.properties,
    command.tokenDigest,
    sealedToken.keyId,
    sealedToken.ciphertext,
    now,
    now,
  ]);
  return created === 1
    ? { created: true, userGroup: createdUserGroup(command) }
    : { created: false, userGroup: findByKey(connection, key)! };
}
