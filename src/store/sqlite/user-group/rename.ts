import { isMet } from '../../../domain/precondition.ts';
import { renameChanges } from '../../../domain/user-group/rename.ts';
import { changeConfig } from '../../document.ts';
import { RENAME, USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import { renamedUserGroup, renamesAt } from '../../user-group-rename.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { perform } from '../steps.ts';
import { CREATE } from './create.ts';
import { DELETE } from './delete.ts';
import { moveImportedToken } from './imported-token.ts';
import { findByKey } from './user-group.ts';

const ADD = `insert into user_group_renames (${RENAME.names})
  values (${RENAME.parameters})`;
// The copy of an event has its old position or a higher one, and the new id. A deleted event has no copy.
const COPY = `insert into user_group_renames (${RENAME.names})
  values (?1, ?2, ?3, ?4, coalesce(
    (select position from events
      where workspace_id = ?2 and environment = ?3 and target_type = 'user_group'
        and target_id = case ?7 when 'from' then ?4 else ?8 end and position >= ?5 and event_id = ?6
      order by position limit 1), ?5), ?6, ?7, ?8, ?9)
  on conflict do nothing`;

export const renameUserGroup: CommandExecutor<'renameUserGroup'> = (connection, command) => {
  const { key, to, config, event } = command;
  const stored = findByKey(connection, key);
  if (stored === null) return 'not_found';
  if (!isMet(command.precondition, stored)) return 'version_mismatch';
  if (findByKey(connection, to) !== null) return 'id_taken';
  if (stored.sealedToken.ciphertext !== command.expected.ciphertext) return 'stale';
  const changed = perform(connection, (transaction) => changeConfig(config, transaction));
  if (changed === 'version_mismatch') return 'stale';
  const renamed = renamedUserGroup(stored, command);
  connection.run(DELETE, USER_GROUP_KEY.cells(key));
  connection.run(CREATE, USER_GROUP.cells(renamed));
  for (const digest of [renamed.tokenDigest, renamed.previousTokenDigest])
    moveImportedToken(connection, renamed.bucket, digest);
  const position = record(connection, event, renamed.version, () =>
    renameChanges(key.providedId, to.providedId),
  );
  if (event === undefined || position === null) return renamed;
  const { eventId } = event;
  for (const rename of renamesAt({ key, to }, { position, eventId, teamId: renamed.teamId }))
    connection.run(ADD, RENAME.cells(rename));
  return renamed;
};

export const copyRenames: CommandExecutor<'copyRenames'> = (connection, { renames }) => {
  for (const rename of renames) connection.run(COPY, RENAME.cells(rename));
};
