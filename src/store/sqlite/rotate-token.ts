// Token rotation and re-encryption, each a compare-and-set.

import { isMet } from '../../domain/precondition.ts';
import type { UserGroup } from '../../domain/user-group.ts';
import type { Command, TokenRotation } from '../port.ts';
import { toUserGroup, USER_GROUP_COLUMNS } from '../row-mapping.ts';
import type { Connection } from './connection.ts';
import { record } from './event.ts';
import { forgetImportedToken } from './imported-token.ts';
import { findByToken, partsOf } from './user-group.ts';

const ROTATE = `update user_groups set token_digest = ?, token_key_id = ?, token_ciphertext = ?,
    previous_token_digest = token_digest, previous_token_expires_at = ?, version = version + 1, updated_at = ?
  where bucket = ? and token_digest = ? and team_id = ?
  returning ${USER_GROUP_COLUMNS}`;
const RESEAL = `update user_groups set token_key_id = ?, token_ciphertext = ?
  where bucket = ? and workspace_id = ? and environment = ? and provided_id = ?
    and token_key_id = ? and token_ciphertext = ?`;

export function rotateToken(connection: Connection, command: TokenRotation): UserGroup | null {
  const { bucket, currentDigest, sealedToken, precondition } = command;
  if (precondition !== undefined) {
    const stored = findByToken(connection, { bucket, digest: currentDigest });
    if (!isMet(precondition, stored)) return null;
  }
  const row = connection.get(ROTATE, [
    command.tokenDigest,
    sealedToken.keyId,
    sealedToken.ciphertext,
    command.previousTokenExpiresAt,
    command.now,
    bucket,
    currentDigest,
    command.teamId,
  ]);
  const rotated = toUserGroup(row);
  if (rotated === null) return null;
  forgetImportedToken(connection, command.forgottenDigest);
  record(connection, command.event, rotated.version);
  return rotated;
}

export function resealToken(
  connection: Connection,
  { key, expected, sealedToken }: Command<'resealToken'>,
): boolean {
  const { keyId, ciphertext } = sealedToken;
  const values = [keyId, ciphertext, ...partsOf(key), expected.keyId, expected.ciphertext];
  return connection.run(RESEAL, values) === 1;
}
