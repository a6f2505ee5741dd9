// Token rotation and re-encryption, each a compare-and-set: if two run concurrently, one wins and the other
// learns that it lost.

import { isImported, type TokenDigest } from '../../../domain/token.ts';
import type { UserGroup } from '../../../domain/user-group/user-group.ts';
import { USER_GROUP, USER_GROUP_KEY } from '../../entities.ts';
import { byKey } from '../../lock-order.ts';
import type { Command, TokenRotation } from '../../port.ts';
import { RowShape, text } from '../../row-shape.ts';
import { statement } from '../../statement.ts';
import { firstOfEach } from '../batch.ts';
import type { Session } from '../client/session.ts';
import { record, recordForTokens } from '../event/record.ts';
import type { CommandBatchExecutor } from '../executor.ts';
import { MEETS_PRECONDITION, PRECONDITION } from '../precondition.ts';
import { isSent, sentRows, toArrays } from '../sent-rows.ts';
import { forgetImportedTokens } from './imported-token.ts';
import { findByToken } from './user-group.ts';

const ROTATED = new RowShape<Omit<TokenRotation, 'forgottenDigest' | 'event'>>({
  ...USER_GROUP.pick('bucket', 'providedId').fields,
  currentDigest: text('current_digest'),
  ...USER_GROUP.pick('teamId', 'tokenDigest', 'sealedToken', 'previousTokenExpiresAt').fields,
  now: USER_GROUP.fields.updatedAt,
  precondition: PRECONDITION,
});

export const ROTATE = statement('rotate_tokens')`
  update user_groups as stored set
    token_digest = sent.token_digest,
    token_key_id = sent.token_key_id,
    token_ciphertext = sent.token_ciphertext,
    previous_token_digest = stored.token_digest,
    previous_token_expires_at = sent.previous_token_expires_at,
    version = stored.version + 1,
    updated_at = sent.updated_at
  from ${sentRows(ROTATED)}
  where stored.bucket = sent.bucket and stored.token_digest = sent.current_digest
    and stored.provided_id = sent.provided_id and stored.team_id = sent.team_id
    and ${MEETS_PRECONDITION}
  returning ${USER_GROUP.namesIn('stored')}`;

const RESEALED = new RowShape<Omit<Command<'resealToken'>, 'kind'>>({
  key: USER_GROUP_KEY,
  expected: new RowShape({ keyId: text('expected_key_id'), ciphertext: text('expected_ciphertext') }),
  sealedToken: USER_GROUP.fields.sealedToken,
});

export const RESEAL = statement('reseal_tokens')`
  update user_groups as stored set
    token_key_id = sent.token_key_id, token_ciphertext = sent.token_ciphertext
  from ${sentRows(RESEALED)}
  where ${isSent(USER_GROUP_KEY)}
    and stored.token_key_id = sent.expected_key_id and stored.token_ciphertext = sent.expected_ciphertext
  returning stored.token_ciphertext`;

/** The imported tokens that no group has after the rotations; deleted in the same transaction. */
export function forgottenBy(commands: readonly TokenRotation[]): TokenDigest[] {
  return commands
    .map(({ forgottenDigest }) => forgottenDigest)
    .filter((digest) => digest !== null)
    .filter(isImported);
}

export const rotateTokens: CommandBatchExecutor<'rotateToken'> = async (session, commands) => {
  // The first of several rotations of one token wins.
  const sorted = firstOfEach(commands, ({ currentDigest }) => currentDigest).sort(
    (a, b) => a.bucket - b.bucket || (a.currentDigest < b.currentDigest ? -1 : 1),
  );
  const rotating = session.query(ROTATE, toArrays(ROTATED, sorted));
  // In one pipeline, and so in one transaction.
  const [rows] = await Promise.all([rotating, !session.isDistributed && recordForTokens(session, sorted)]);
  const userGroups = USER_GROUP.readAll(rows);
  const rotated = new Map(userGroups.map((userGroup) => [userGroup.tokenDigest, userGroup]));
  if (session.isDistributed) {
    await record(
      session,
      sorted.flatMap(({ tokenDigest, event }) => {
        const userGroup = rotated.get(tokenDigest);
        return userGroup === undefined ? [] : [{ event, version: userGroup.version }];
      }),
    );
  }
  await forgetImportedTokens(
    session,
    forgottenBy(commands.filter(({ tokenDigest }) => rotated.has(tokenDigest))),
  );
  for (const userGroup of session.isRepetition ? await findRotated(session, sorted) : [])
    rotated.set(userGroup.tokenDigest, userGroup);
  return commands.map(({ tokenDigest }) => rotated.get(tokenDigest) ?? null);
};

/** Finds the groups with the new tokens, which an earlier attempt may have stored: each is unique to its command. */
async function findRotated(session: Session, commands: readonly TokenRotation[]): Promise<UserGroup[]> {
  const queries = commands.map(({ bucket, tokenDigest: digest }) => ({
    address: { bucket, digest },
    tenant: null,
  }));
  return (await findByToken(session, queries)).filter((userGroup) => userGroup !== null);
}

export const resealTokens: CommandBatchExecutor<'resealToken'> = async (session, commands) => {
  const sorted = firstOfEach(commands, ({ expected }) => expected.ciphertext).sort(byKey);
  const rows = await session.query(RESEAL, toArrays(RESEALED, sorted));
  const resealed = new Set(rows.map(([ciphertext]) => ciphertext));
  return commands.map(({ sealedToken }) => resealed.has(sealedToken.ciphertext));
};
