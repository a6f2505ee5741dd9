// Lookups of user groups.

import type { Bucket } from '../../../domain/bucket.ts';
import type { TokenAddress, TokenDigest } from '../../../domain/token.ts';
import type { UserGroup, UserGroupKey } from '../../../domain/user-group/user-group.ts';
import {
  TENANT,
  toUserGroupWithKey,
  USER_GROUP,
  USER_GROUP_BESIDE_KEY,
  USER_GROUP_KEY,
} from '../../entities.ts';
import type { QueryExecutor } from '../executor.ts';
import type { Connection } from '../file/connection.ts';
import { findImportedToken } from './imported-token.ts';

/** The parameters are the cells of `USER_GROUP_KEY`. */
export const HAS_KEY = 'bucket = ? and workspace_id = ? and environment = ? and provided_id = ?';
const FIND_BY_KEY = `select ${USER_GROUP_BESIDE_KEY.names} from user_groups
  where ${HAS_KEY}`;
const FIND_BY_TOKEN = `select ${USER_GROUP.names} from user_groups where bucket = ? and token_digest = ?`;
const FIND_BY_PREVIOUS_TOKEN = `select ${USER_GROUP.names} from user_groups where bucket = ? and previous_token_digest = ?`;
// The unary plus prevents the use of the primary key's index. The row of a token that does not resolve is not
// read, so its size does not distinguish it from an unknown token.
const RESOLVES_FOR_TENANT = 'suspended_at is null and +workspace_id = ? and +environment = ?';
const RESOLVE = `${FIND_BY_TOKEN} and ${RESOLVES_FOR_TENANT}`;
const RESOLVE_PREVIOUS = `${FIND_BY_PREVIOUS_TOKEN} and ${RESOLVES_FOR_TENANT} and previous_token_expires_at > ?`;
export function findByKey(connection: Connection, key: UserGroupKey): UserGroup | null {
  const row = connection.get(FIND_BY_KEY, USER_GROUP_KEY.cells(key));
  return row === undefined ? null : toUserGroupWithKey(key, row);
}

export function findByToken(connection: Connection, { bucket, digest }: TokenAddress): UserGroup | null {
  return USER_GROUP.readOrNull(
    connection.get(FIND_BY_TOKEN, [bucket, digest]) ??
      connection.get(FIND_BY_PREVIOUS_TOKEN, [bucket, digest]),
  );
}

export const resolveToken: QueryExecutor<'resolveToken'> = (connection, { address, tenant, now }) => {
  const values = [address.bucket, address.digest, ...TENANT.cells(tenant)];
  return USER_GROUP.readOrNull(
    connection.get(RESOLVE, values) ?? connection.get(RESOLVE_PREVIOUS, [...values, now]),
  );
};

/** Runs both lookups in the transaction of the query: the bucket cannot change in between. */
export function findByImportedToken(connection: Connection, digest: TokenDigest): UserGroup | null {
  const bucket = findImportedToken(connection, digest);
  return bucket === null ? null : findByToken(connection, { bucket, digest });
}

/** Bucket for the lookup of a digest that no group has. */
const ANY_BUCKET = 0 as Bucket;

/** Takes the same steps for every token: time does not distinguish a suspended group from a deleted one. */
export const resolveImportedToken: QueryExecutor<'resolveImportedToken'> = (
  connection,
  { digest, tenant, now },
) => {
  const bucket = findImportedToken(connection, digest) ?? ANY_BUCKET;
  return resolveToken(connection, { kind: 'resolveToken', address: { bucket, digest }, tenant, now });
};
