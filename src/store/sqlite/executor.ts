// Functions that execute the queries and commands of the port: the port says what each of them takes and returns.

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

/** JSON in the results of one batch. SQLite and Node decode this much of a script that is not Latin in 6 ms. */
export const MAX_CHARACTERS = 262_144;
