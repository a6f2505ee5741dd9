// Deleting user groups: one statement, and one for the imported tokens among theirs; the groups that it leaves are
// read, to tell why.

import type { Bucket } from '../../domain/bucket.ts';
import type { TokenDigest } from '../../domain/token.ts';
import { type Environment, spell, type UserGroup, versionTag } from '../../domain/user-group.ts';
import type { CommandResult, UserGroupDeletion } from '../store.ts';
import { forgetImportedTokens, importedTokensOf } from './imported-token.ts';
import type { Session, Statement } from './pool.ts';
import { versionsOf } from './update-user-group.ts';
import { columnsOfKeys, explainLeft, settle } from './user-group.ts';

export const DELETE: Statement = {
  name: 'delete_user_groups',
  sql: `delete from user_groups as stored
    using unnest($1::integer[], $2::bigint[], $3::text[], $4::text[], $5::text[])
      as sent (bucket, workspace_id, environment, provided_id, versions)
    where stored.bucket = sent.bucket and stored.workspace_id = sent.workspace_id
      and stored.environment = sent.environment and stored.provided_id = sent.provided_id
      and (sent.versions is null
        or stored.team_id::text || '-' || stored.version::text = any (string_to_array(sent.versions, ',')))
    returning stored.bucket, stored.workspace_id, stored.environment, stored.provided_id, stored.token_digest,
      stored.previous_token_digest`,
};

type Result = CommandResult<'deleteUserGroup'>;

/** In a transaction. No two commands may have the same key. */
export async function deleteUserGroups(
  session: Session,
  commands: readonly UserGroupDeletion[],
): Promise<Result[]> {
  const results = new Map<string, Result>();
  await settle(commands, (rest) => deleteOrExplain(session, rest, results));
  return commands.map(({ key }) => results.get(spell(key))!);
}

/** Settles commands; returns those whose group came or changed between the two statements. */
async function deleteOrExplain(
  session: Session,
  commands: readonly UserGroupDeletion[],
  results: Map<string, Result>,
): Promise<UserGroupDeletion[]> {
  const rows = await session.query(DELETE, [...columnsOfKeys(commands), versionsOf(commands)]);
  const deleted = rows.map((row) => toDeleted(row as DeletedRow));
  for (const key of deleted) results.set(spell(key), 'deleted');
  await forgetImportedTokens(
    session,
    deleted.flatMap(importedTokensOf).map(({ digest }) => digest),
  );
  return explainLeft(session, commands, results, whyLeft);
}

type DeletedRow = [Bucket, number, Environment, string, TokenDigest, TokenDigest | null];

function toDeleted(row: DeletedRow) {
  const [bucket, workspaceId, environment, providedId, tokenDigest, previousTokenDigest] = row;
  return { bucket, workspaceId, environment, providedId, tokenDigest, previousTokenDigest };
}

/** null where nothing of what is stored now explains it. */
function whyLeft({ ifVersion }: UserGroupDeletion, stored: UserGroup | null): Result | null {
  if (stored === null) return 'not_found';
  return ifVersion === undefined || ifVersion.includes(versionTag(stored)) ? null : 'version_mismatch';
}
