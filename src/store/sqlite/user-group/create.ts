import { userGroupChanges } from '../../../domain/event/changes.ts';
import type { CommandResult, NewUserGroup } from '../../port.ts';
import { createdUserGroup, USER_GROUP_COLUMNS } from '../../row-mapping.ts';
import { record } from '../event/event.ts';
import type { Connection } from '../file/connection.ts';
import { findByKey, partsOf } from './user-group.ts';

const CREATE = `insert into user_groups (${USER_GROUP_COLUMNS})
  values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, null, null, ?, ?, null, null)
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
  if (created === 0) return { created: false, userGroup: findByKey(connection, key)! };
  const userGroup = createdUserGroup(command);
  record(connection, command.event, userGroup.version, () => userGroupChanges(null, userGroup));
  return { created: true, userGroup };
}
