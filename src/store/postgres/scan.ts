import type { Scan, ScanPage } from '../scan.ts';
import { statement } from '../statement.ts';
import type { Session } from './client/session.ts';

export function scan<Position extends object, Row extends object>({
  table,
  rows,
  position,
}: Scan<Position, Row>): (session: Session, page: ScanPage<Position>) => Promise<Row[]> {
  const sql = statement(`scan_${table}`)`select ${rows.names} from ${table} ${position.pageAfter('$')}`;
  return async (session, { after, limit }) =>
    rows.readAll(await session.query(sql, [...position.cellsAfter(after), limit]));
}
