// Deletes user groups and their imported tokens. Groups that were not deleted are read to explain why.

import type { Bucket } from '../../../domain/bucket.ts';
import { isMet } from '../../../domain/precondition.ts';
import type { TokenDigest } from '../../../domain/token.ts';
import { type Environment, keyToString, type UserGroup } from '../../../domain/user-group/user-group.ts';
import type { CommandResult, UserGroupDeletion } from '../../port.ts';
import type { Session, Statement } from '../client/pool.ts';
import { eraseLastChanges, record, recordings } from '../event/event.ts';
import { columnsOfPreconditions, MEETS_PRECONDITION } from '../precondition.ts';
import { forgetImportedTokens, importedTokensOf } from './imported-token.ts';
import { applyOrConflict, columnsOfKeys, explainUnapplied } from './user-group.ts';

export const DELETE: Statement = {
  name: 'delete_user_groups',
  sql: `delete from user_groups as stored
    using unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
      as sent (bucket, workspace_id, environment, provided_id, versions, excluded_versions)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id
      and ${MEETS_PRECONDITION}
    returning stored.bucket, stored.workspace_id, stored.environment, stored.provided_id, stored.token_digest,
      stored.previous_token_digest`,
};

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
  const rows = await session.query(DELETE, [...columnsOfKeys(commands), ...columnsOfPreconditions(commands)]);
  const deleted = rows.map((row) => toDeleted(row as DeletedRow));
  for (const key of deleted) results.set(keyToString(key), 'deleted');
  const erasedTo = new Map(commands.map(({ key, erasedTo = 0 }) => [keyToString(key), erasedTo]));
  await session.pipelined(() =>
    Promise.all([
      forgetImportedTokens(
        session,
        deleted.flatMap(importedTokensOf).map(({ digest }) => digest),
      ),
      eraseLastChanges(
        session,
        deleted.map((key) => ({
          ...key,
          target: { type: 'user_group', id: key.providedId },
          erasedTo: erasedTo.get(keyToString(key))!,
        })),
      ),
      record(
        session,
        recordings(commands, ({ key }, event) =>
          results.get(keyToString(key)) === 'deleted' ? { event, version: null, changes: null } : null,
        ),
      ),
    ]),
  );
  return explainUnapplied(session, commands, results, whyLeft);
}

type DeletedRow = [Bucket, number, Environment, string, TokenDigest, TokenDigest | null];

function toDeleted(row: DeletedRow) {
  const [bucket, workspaceId, environment, providedId, tokenDigest, previousTokenDigest] = row;
  return { bucket, workspaceId, environment, providedId, tokenDigest, previousTokenDigest };
}

/** null if what is stored now does not explain it. */
function whyLeft({ precondition }: UserGroupDeletion, stored: UserGroup | null): Result | null {
  if (stored === null) return 'not_found';
  return isMet(precondition, stored) ? null : 'version_mismatch';
}
