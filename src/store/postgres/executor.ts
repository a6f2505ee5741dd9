// Types of the functions that execute the queries and commands of the port, which defines their parameters
// and results.

import type { UserGroup } from '../../domain/user-group/user-group.ts';
import type { Command, CommandKind, CommandResult, Query, QueryKind, QueryResult } from '../port.ts';
import type { StepsTransaction } from '../steps.ts';
import type { Session } from './client/session.ts';

export type QueryExecutor<Kind extends QueryKind> = (
  session: Session,
  query: Query<Kind>,
) => Promise<QueryResult<Kind>>;

/** Executes all queries of this kind in a batch. */
export type QueryBatchExecutor<Kind extends QueryKind> = (
  session: Session,
  queries: readonly Query<Kind>[],
) => Promise<QueryResult<Kind>[]>;

export type CommandExecutor<Kind extends CommandKind> = (
  session: Session,
  command: Command<Kind>,
  transaction: Transaction,
) => Promise<CommandResult<Kind>>;

export type CommandBatchExecutor<Kind extends CommandKind> = (
  session: Session,
  commands: readonly Command<Kind>[],
  transaction: Transaction,
) => Promise<CommandResult<Kind>[]>;

/** State that the parts of one transaction share. */
export interface Transaction extends StepsTransaction {
  /** The user groups that earlier parts have changed, and thereby locked, by key. */
  locked: Map<string, UserGroup>;
}
