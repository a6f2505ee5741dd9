// Creating user groups that bring their tokens. The key of imported tokens decides between two imports of one token,
// also of a token that was issued here: where its group is at home it is claimed for the time of the transaction only.

import type { TokenDigest } from '../../domain/token.ts';
import type { CommandResult, ImportedUserGroup } from '../store.ts';
import { createUserGroups } from './create-user-group.ts';
import { addImportedTokens, forgetImportedTokens } from './imported-token.ts';
import type { Session } from './pool.ts';
import { findByKey, findByToken } from './user-group.ts';

type Result = CommandResult<'importUserGroup'>;

/** In a transaction. No two commands may have the same key, or the same token. */
export async function importUserGroups(
  session: Session,
  commands: readonly ImportedUserGroup[],
): Promise<Result[]> {
  const claims = commands.map(({ claim, key }) => ({ digest: claim, bucket: key.bucket }));
  const claimed = await addImportedTokens(session, claims);
  const results = new Map<ImportedUserGroup, Result>();
  for (const [index, userGroup] of (await findByKey(session, commands)).entries()) {
    const command = commands[index]!;
    // An earlier try may have made it, whose answer was lost: no other command has this id.
    if (userGroup !== null) results.set(command, { created: userGroup.teamId === command.teamId, userGroup });
    else if (!claimed.has(command.claim)) results.set(command, 'token_taken');
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
}

/** The commands whose token another group has had since it was issued here. */
async function issuedTo(
  session: Session,
  commands: readonly ImportedUserGroup[],
): Promise<ImportedUserGroup[]> {
  const issued = commands.flatMap((command) =>
    command.issued === null ? [] : [{ command, address: command.issued }],
  );
  if (issued.length === 0) return [];
  const holders = await findByToken(session, issued);
  return issued.filter((_, index) => holders[index] !== null).map(({ command }) => command);
}

/** The claims of groups that are not made, or that are found without them. */
function unused(
  commands: readonly ImportedUserGroup[],
  claimed: ReadonlySet<TokenDigest>,
  results: ReadonlyMap<ImportedUserGroup, Result>,
): TokenDigest[] {
  return commands
    .filter(({ claim }) => claimed.has(claim))
    .filter((command) => {
      const result = results.get(command)!;
      return typeof result === 'string' || !result.created || command.tokenDigest !== command.claim;
    })
    .map(({ claim }) => claim);
}
