// Creates user groups with existing tokens. The primary key of imported_tokens decides between two imports of one
// token. A token that was issued by this installation is claimed for the duration of the transaction only.

import type { TokenDigest } from '../../../domain/token.ts';
import type { CommandResult, ImportedUserGroup } from '../../port.ts';
import type { Session } from '../client/session.ts';
import type { CommandBatchExecutor } from '../executor.ts';
import { lockWorkspaces } from '../workspace.ts';
import { createUserGroups } from './create.ts';
import { addImportedTokens, forgetImportedTokens } from './imported-token.ts';
import { findByKey, findByToken } from './user-group.ts';

type Result = CommandResult<'importUserGroup'>;

/** Runs in a transaction. Keys and tokens must be distinct. */
export const importUserGroups: CommandBatchExecutor<'importUserGroup'> = async (session, commands) => {
  const claims = commands.flatMap(({ claim, key }) =>
    claim === null ? [] : [{ digest: claim, bucket: key.bucket }],
  );
  // Both travel together, the lock first: no workspace is deleted while groups are imported into it.
  const [workspaceIds, claimed] = await Promise.all([
    lockWorkspaces(
      session,
      commands.map(({ key }) => key.workspaceId),
    ),
    addImportedTokens(session, claims),
  ]);
  const results = new Map<ImportedUserGroup, Result>();
  for (const [index, userGroup] of (await findByKey(session, commands)).entries()) {
    const command = commands[index]!;
    const { claim } = command;
    // An earlier attempt whose response was lost may have created it: the id is unique to this command.
    if (userGroup !== null) results.set(command, { created: userGroup.teamId === command.teamId, userGroup });
    else if (!workspaceIds.has(command.key.workspaceId)) results.set(command, 'workspace_not_found');
    else if (claim !== null && !claimed.has(claim)) results.set(command, 'token_taken');
  }
  for (const command of await issuedTo(session, rest())) results.set(command, 'token_taken');
  const free = rest();
  const created = free.length === 0 ? [] : await createUserGroups(session, free);
  for (const [index, result] of created.entries()) results.set(free[index]!, result);
  await forgetImportedTokens(session, unused(commands, claimed, results));
  return commands.map((command) => results.get(command)!);

  function rest(): ImportedUserGroup[] {
    return commands.filter((command) => !results.has(command));
  }
};

/** The commands whose token was issued here and belongs to another group. */
async function issuedTo(
  session: Session,
  commands: readonly ImportedUserGroup[],
): Promise<ImportedUserGroup[]> {
  const issued = commands.flatMap((command) =>
    command.issued === null ? [] : [{ command, address: command.issued, tenant: null }],
  );
  if (issued.length === 0) return [];
  const holders = await findByToken(session, issued);
  return issued.filter((_, index) => holders[index] !== null).map(({ command }) => command);
}

/** The claims that no created group needs. */
function unused(
  commands: readonly ImportedUserGroup[],
  claimed: ReadonlySet<TokenDigest>,
  results: ReadonlyMap<ImportedUserGroup, Result>,
): TokenDigest[] {
  return commands.flatMap(({ claim, ...command }, index) => {
    if (claim === null || !claimed.has(claim)) return [];
    const result = results.get(commands[index]!)!;
    const isUsed = typeof result === 'object' && result.created && command.tokenDigest === claim;
    return isUsed ? [] : [claim];
  });
}
