// Characters of JSON in results. Too many in a batch keep the database and the event loop busy too long.

import type { StoredEvent } from '../domain/event/event.ts';
import { type UserGroup, valuesLength } from '../domain/user-group/user-group.ts';
import type { Command, CommandResult, Query, QueryKind, QueryResult } from './port.ts';

const GROUP_QUERIES: ReadonlySet<QueryKind> = new Set<QueryKind>([
  'findUserGroup',
  'findUserGroupByToken',
  'findUserGroupByImportedToken',
  'resolveToken',
  'resolveImportedToken',
]);

/** Counts the characters in the result of a lookup. */
export function countInQueryResult({ kind }: Query, result: QueryResult): number {
  if (kind === 'findEvent') return (result as StoredEvent | null)?.changes?.length ?? 0;
  return GROUP_QUERIES.has(kind) && result !== null ? valuesLength(result as UserGroup) : 0;
}

/** Counts the characters in the user group of the result; none for a new one, which the caller knows. */
export function countInCommandResult(_command: Command, result: CommandResult): number {
  if (typeof result !== 'object' || result === null) return 0;
  if ('created' in result && result.created) return 0;
  if ('userGroup' in result) return valuesLength(result.userGroup);
  return 'properties' in result ? valuesLength(result) : 0;
}
