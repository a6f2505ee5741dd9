// One event: found by its key, or recorded without a change.

import { EVENT } from '../../entities.ts';
import type { CommandExecutor, QueryExecutor } from '../executor.ts';
import { record } from './record.ts';
import { HAS_TARGET, targetCells } from './target.ts';

const FIND = `select ${EVENT.names} from events where ${HAS_TARGET} and position = ?`;

export const findEvent: QueryExecutor<'findEvent'> = (connection, { key }) =>
  EVENT.readOrNull(connection.get(FIND, [...targetCells(key, key.target), key.position]));

export const recordEvent: CommandExecutor<'recordEvent'> = (connection, { event }) =>
  void record(connection, event, null);
