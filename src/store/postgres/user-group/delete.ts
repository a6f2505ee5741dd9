// Deletes user groups and their imported tokens. Groups that were not deleted are read to explain why.

import { isMet } from '../../../domain/precondition.ts';
import type { SealedSecret } from '../../../domain/secret.ts';
import { keyToString, type UserGroup, type UserGroupKey } from '../../../domain/user-group/user-group.ts';
import { USER_GROUP_KEY } from '../../entities.ts';
import type { CommandResult, UserGroupDeletion } from '../../port.ts';
import { Entity, RowShape, text } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import type { Session } from '../client/session.ts';
import { eraseLastChanges } from '../event/erase.ts';
import { record } from '../event/record.ts';
import { MEETS_PRECONDITION, PRECONDITION } from '../precondition.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';
import { forgetImportedTokens, heldImportedTokens } from './imported-token.ts';
import { applyOrConflict, explainUnapplied } from './user-group.ts';

const SENT = new RowShape<
  Pick<UserGroupDeletion, 'key' | 'precondition'> & { expected: Pick<SealedSecret, 'ciphertext'> }
>({
  key: USER_GROUP_KEY,
  precondition: PRECONDITION,
  expected: new RowShape({ ciphertext: text('expected_ciphertext') }),
});

type DeletedUserGroup = UserGroupKey & Pick<UserGroup, 'tokenDigest' | 'previousTokenDigest'>;

const DELETED = new Entity<DeletedUserGroup>((column) => ({
  ...USER_GROUP_KEY.describe(column),
  tokenDigest: column.text('token_digest'),
  previousTokenDigest: column.text('previous_token_digest'),
}));

export const DELETE = statement('delete_user_groups')`
  delete from user_groups as stored
  using ${sentRows(SENT)}
  where ${isSent(USER_GROUP_KEY)} and ${MEETS_PRECONDITION}
    and stored.token_ciphertext = sent.expected_ciphertext
  returning ${DELETED.namesIn('stored')}`;

type Result = CommandResult<'deleteUserGroup'>;

/** Runs in a transaction. Keys must be distinct. */
export async function deleteUserGroups(
  session: Session,
  commands: readonly UserGroupDeletion[],
): Promise<Result[]> {
  const results = new Map<string, Result>();
  await applyOrConflict(commands, (rest) => deleteOrExplain(session, rest, results));
  return commands.map(({ key }) => results.get(keyToString(key))!);
}

/** Returns the commands whose group was created or changed between the two statements. */
async function deleteOrExplain(
  session: Session,
  commands: readonly UserGroupDeletion[],
  results: Map<string, Result>,
): Promise<UserGroupDeletion[]> {
  const rows = await session.query(DELETE, toArrays(SENT, commands));
  const deleted = DELETED.readAll(rows);
  for (const key of deleted) results.set(keyToString(key), 'deleted');
  const eraseAfter = new Map(commands.map(({ key, eraseAfter }) => [keyToString(key), eraseAfter]));
  await session.pipelined(() => [
    forgetImportedTokens(
      session,
      deleted.flatMap(heldImportedTokens).map(({ digest }) => digest),
    ),
    eraseLastChanges(
      session,
      deleted.map((key) => ({
        ...key,
        target: { type: 'user_group', id: key.providedId },
        eraseAfter: eraseAfter.get(keyToString(key))!,
      })),
    ),
    record(
      session,
      commands
        .filter(({ key }) => results.get(keyToString(key)) === 'deleted')
        .map(({ event }) => ({ event })),
    ),
  ]);
  return explainUnapplied(session, commands, results, reasonNotDeleted);
}

/** Returns why the group was not deleted; null if the stored group does not explain it. */
function reasonNotDeleted(
  { precondition, expected }: UserGroupDeletion,
  stored: UserGroup | null,
): Result | null {
  if (stored === null) return 'not_found';
  if (!isMet(precondition, stored)) return 'version_mismatch';
  return stored.sealedToken.ciphertext === expected.ciphertext ? null : 'stale';
}
