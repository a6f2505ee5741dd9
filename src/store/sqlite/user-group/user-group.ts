// Lookups of user groups.

import type { Bucket } from '../../../domain/bucket.ts';
import type { UserGroup, UserGroupKey } from '../../../domain/user-group/user-group.ts';
import {
  TENANT,
  TENANT_OR_ANY,
  toUserGroupWithKey,
  USER_GROUP,
  USER_GROUP_BESIDE_KEY,
  USER_GROUP_KEY,
} from '../../entities.ts';
import type { Query } from '../../port.ts';
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
/** The same for the row of another tenant; null stands for any tenant. */
const BELONGS_TO_TENANT =
  'workspace_id = coalesce(?, workspace_id) and environment = coalesce(?, environment)';
const FIND = `${FIND_BY_TOKEN} and ${BELONGS_TO_TENANT}`;
const FIND_PREVIOUS = `${FIND_BY_PREVIOUS_TOKEN} and ${BELONGS_TO_TENANT}`;
const RESOLVE = `${FIND_BY_TOKEN} and ${RESOLVES_FOR_TENANT}`;
const RESOLVE_PREVIOUS = `${FIND_BY_PREVIOUS_TOKEN} and ${RESOLVES_FOR_TENANT} and previous_token_expires_at > ?`;

export function findByKey(connection: Connection, key: UserGroupKey): UserGroup | null {
  const row = connection.get(FIND_BY_KEY, USER_GROUP_KEY.cells(key));
  return row === undefined ? null : toUserGroupWithKey(key, row);
}

export function findByToken(
  connection: Connection,
  { address, tenant }: Omit<Query<'findUserGroupByToken'>, 'kind'>,
): UserGroup | null {
  const values = [address.bucket, address.digest, ...TENANT_OR_ANY.cells({ tenant })];
  return USER_GROUP.readOrNull(connection.get(FIND, values) ?? connection.get(FIND_PREVIOUS, values));
}

export const resolveToken: QueryExecutor<'resolveToken'> = (connection, { address, tenant, now }) => {
  const values = [address.bucket, address.digest, ...TENANT.cells(tenant)];
  return USER_GROUP.readOrNull(
    connection.get(RESOLVE, values) ?? connection.get(RESOLVE_PREVIOUS, [...values, now]),
  );
};

/** Bucket for the lookup of a digest that no group has, which then takes the same steps as any other. */
const ANY_BUCKET = 0 as Bucket;

/** Runs both lookups in the transaction of the query: the bucket cannot change in between. */
export const findByImportedToken: QueryExecutor<'findUserGroupByImportedToken'> = (
  connection,
  { digest, tenant },
) => {
  const bucket = findImportedToken(connection, digest) ?? ANY_BUCKET;
  return findByToken(connection, { address: { bucket, digest }, tenant });
};

export const resolveImportedToken: QueryExecutor<'resolveImportedToken'> = (
  connection,
  { digest, tenant, now },
) => {
  const bucket = findImportedToken(connection, digest) ?? ANY_BUCKET;
  return resolveToken(connection, { kind: 'resolveToken', address: { bucket, digest }, tenant, now });
};
