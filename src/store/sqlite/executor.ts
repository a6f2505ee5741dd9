// Types of the functions that execute the queries and commands of the port, which defines their parameters
// and results.

import type { Command, CommandKind, CommandResult, Query, QueryKind, QueryResult } from '../port.ts';
import type { Connection } from './file/connection.ts';

export type QueryExecutor<Kind extends QueryKind> = (
  connection: Connection,
  query: Query<Kind>,
) => QueryResult<Kind>;

export type CommandExecutor<Kind extends CommandKind> = (
  connection: Connection,
  command: Command<Kind>,
) => CommandResult<Kind>;

/** Characters of JSON in the results of one batch. SQLite and Node decode as much non-Latin text in 6 ms. */
export const MAX_CHARACTERS = 262_144;
