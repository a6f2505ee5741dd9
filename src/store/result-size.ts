import { valuesLength } from '../domain/user-group/user-group.ts';
import type { CommandResult, QueryResult } from './port.ts';

/**
 * Counts the characters of JSON in a user group or an event; none in a new group, which the caller knows. Too many in a
 * batch keep the database and the event loop busy too long.
 */
export function countInResult(result: QueryResult | CommandResult): number {
  if (typeof result !== 'object' || result === null) return 0;
  if ('properties' in result) return valuesLength(result);
  if ('userGroup' in result) return result.created ? 0 : valuesLength(result.userGroup);
  return 'changes' in result ? (result.changes?.length ?? 0) : 0;
}
