import type { Scan, ScanPage } from '../scan.ts';
import type { Connection } from './file/connection.ts';

export function scan<Position extends object, Row extends object>({
  table,
  rows,
  position,
}: Scan<Position, Row>): (connection: Connection, page: ScanPage<Position>) => Row[] {
  const sql = `select ${rows.names} from ${table} ${position.pageAfter('?')}`;
  return (connection, { after, limit }) =>
    rows.readAll(connection.all(sql, [...position.cellsAfter(after), limit]));
}
