import type { UserGroupFilter } from '../../../src/domain/user-group/user-group-filter.ts';

/** A filter without a condition. */
export const EVERY_GROUP: UserGroupFilter = {
  contains: null,
  dataSource: null,
  suspended: null,
  seenBefore: null,
  neverSeen: null,
  createdSince: null,
  invalid: null,
};
