import { userGroupChanges } from '../../../domain/event/changes.ts';
import { createdUserGroup, USER_GROUP } from '../../entities.ts';
import type { CommandResult, NewUserGroup } from '../../port.ts';
import { record } from '../event/record.ts';
import type { Connection } from '../file/connection.ts';
import { findByKey } from './user-group.ts';

/** Stores nothing if the key is taken. */
export const CREATE = `insert into user_groups (${USER_GROUP.names})
  values (${USER_GROUP.parameters})
  on conflict (workspace_id, environment, provided_id) do nothing`;

export function createUserGroup(
  connection: Connection,
  command: NewUserGroup,
): Exclude<CommandResult<'createUserGroup'>, 'unsettled'> {
  const userGroup = createdUserGroup(command);
  const isCreated = connection.run(CREATE, USER_GROUP.cells(userGroup)) === 1;
  if (!isCreated) return { created: false, userGroup: findByKey(connection, command.key)! };
  record(connection, command.event, userGroup.version, () => userGroupChanges(null, userGroup));
  return { created: true, userGroup };
}
