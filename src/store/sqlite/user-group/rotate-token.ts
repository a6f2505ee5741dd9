// Token rotation and re-encryption, each a compare-and-set.

import { isMet } from '../../../domain/precondition.ts';
import { USER_GROUP_KEY } from '../../entities.ts';
import { record } from '../event/record.ts';
import type { CommandExecutor } from '../executor.ts';
import { forgetImportedToken } from './imported-token.ts';
import { findByToken, HAS_KEY } from './user-group.ts';

const ROTATE = `update user_groups set token_digest = ?, token_key_id = ?, token_ciphertext = ?,
    previous_token_digest = token_digest, previous_token_expires_at = ?, version = version + 1, updated_at = ?
  where bucket = ? and token_digest = ?`;
const RESEAL = `update user_groups set token_key_id = ?, token_ciphertext = ?
  where ${HAS_KEY}
    and token_key_id = ? and token_ciphertext = ?`;

/** Returns null if the group has another token by now, or does not meet the precondition. */
export const rotateToken: CommandExecutor<'rotateToken'> = (connection, command) => {
  const { bucket, providedId, currentDigest, tokenDigest, sealedToken, previousTokenExpiresAt, now } =
    command;
  const address = { bucket, digest: currentDigest };
  const stored = findByToken(connection, { address, tenant: null });
  const isCurrent = stored?.tokenDigest === currentDigest && stored.teamId === command.teamId;
  if (!isCurrent || stored.providedId !== providedId || !isMet(command.precondition, stored)) return null;
  const { keyId, ciphertext } = sealedToken;
  const change = [tokenDigest, keyId, ciphertext, previousTokenExpiresAt, now];
  connection.run(ROTATE, [...change, bucket, currentDigest]);
  forgetImportedToken(connection, command.forgottenDigest);
  const version = stored.version + 1;
  record(connection, command.event, version);
  return {
    ...stored,
    tokenDigest,
    sealedToken,
    previousTokenDigest: currentDigest,
    previousTokenExpiresAt,
    version,
    updatedAt: now,
  };
};

export const resealToken: CommandExecutor<'resealToken'> = (connection, { key, expected, sealedToken }) => {
  const { keyId, ciphertext } = sealedToken;
  const values = [keyId, ciphertext, ...USER_GROUP_KEY.cells(key), expected.keyId, expected.ciphertext];
  return connection.run(RESEAL, values) === 1;
};
