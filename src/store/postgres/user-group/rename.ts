// Renames user groups: the row gets another key, and the bucket of the key. Citus cannot update the column by which a table
// is distributed, so the row is deleted and inserted again.

import { isMet } from '../../../domain/precondition.ts';
import { type Rename, renameChanges } from '../../../domain/user-group/rename.ts';
import type { UserGroup } from '../../../domain/user-group/user-group.ts';
import { changeConfig } from '../../document.ts';
import { RENAME, USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import type { UserGroupRename } from '../../port.ts';
import { statement } from '../../statement.ts';
import { renamedUserGroup, renamesAt } from '../../user-group-rename.ts';
import { conflict } from '../client/errors.ts';
import type { Session } from '../client/session.ts';
import { nextPositionOfAll, recordAt } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { sentRows, toArrays } from '../sent-rows.ts';
import { COPY } from './copy.ts';
import { heldImportedTokens, moveImportedTokens } from './imported-token.ts';
import { findByKey, lockUserGroups } from './user-group.ts';

export const TAKE = statement('take_user_group')`
  delete from user_groups where bucket = $1 and workspace_id = $2 and environment = $3 and provided_id = $4`;

export const ADD = statement('add_user_group_renames')`
  insert into user_group_renames (${RENAME.names})
  select ${RENAME.names} from ${sentRows(RENAME)}
  on conflict (bucket, workspace_id, environment, provided_id, position) do nothing`;

/** Runs in a transaction. */
export const renameUserGroup: CommandExecutor<'renameUserGroup'> = async (session, command, transaction) => {
  const { key, to, config } = command;
  const [, [stored, holder]] = await session.pipelined(() => [
    // From here on, no change of either group is running.
    lockUserGroups(session, [{ key }, { key: to }]),
    findByKey(session, [{ key }, { key: to }]),
  ]);
  if (stored === null || stored === undefined) return 'not_found';
  if (!isMet(command.precondition, stored)) return 'version_mismatch';
  if (holder !== null) return 'id_taken';
  if (stored.sealedToken.ciphertext !== command.expected.ciphertext) return 'stale';
  if ((await session.perform(changeConfig(config, transaction))) === 'version_mismatch') return 'stale';
  const renamed = renamedUserGroup(stored, command);
  await replace(session, stored, renamed);
  await recordRename(session, command, renamed);
  return renamed;
};

async function replace(session: Session, stored: UserGroup, renamed: UserGroup): Promise<void> {
  // The order of a rotation: the group, then its tokens.
  const [, , placed] = await session.pipelined(() => [
    session.query(TAKE, USER_GROUP_KEY.cells(stored)),
    moveImportedTokens(session, heldImportedTokens(renamed)),
    session.query(COPY, toArrays(USER_GROUP, [renamed])),
  ]);
  if (placed.length === 0) throw conflict(new Error('concurrent creation of a user group'));
}

/** Records one event, under the new id, and links to it from both ids. */
async function recordRename(
  session: Session,
  { key, to, event }: UserGroupRename,
  { version, teamId }: UserGroup,
): Promise<void> {
  if (event === undefined) return;
  const position = await nextPositionOfAll(session, [key, to]);
  const changes = renameChanges(key.providedId, to.providedId);
  await session.pipelined(() => [
    recordAt(session, [{ event, version, changes }], [position]),
    addRenames(session, renamesAt({ key, to }, { position, eventId: event.eventId, teamId })),
  ]);
}

async function addRenames(session: Session, renames: readonly Rename[]): Promise<void> {
  await session.query(ADD, toArrays(RENAME, renames));
}

export const copyRenames: CommandExecutor<'copyRenames'> = (session, { renames }) =>
  addRenames(session, renames);
