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
