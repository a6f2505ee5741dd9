import type { CommandResult } from '../port.ts';
import type { Connection } from './file/connection.ts';
import { acceptsData, reportsFreeSpace } from './file/file.ts';
import { leaseIds } from './lease-ids.ts';

/**
 * A transaction that changes nothing does not touch the disk, so the probe takes an id that remains unused. A
 * connection that has written is known to work, because its first failure closes it, unless the disk has filled up
 * since. One that has not written may follow a failure: its log can have space for an id and for nothing larger.
 */
export function pingWrite(connection: Connection): CommandResult<'pingWrite'> {
  const [changes] = connection.get('select total_changes()') as [number];
  const hasWritten = changes > 0;
  if (hasWritten && reportsFreeSpace(connection.file)) return null;
  if (!hasWritten && !acceptsData(connection.file)) return 'disk_full';
  leaseIds(connection, { sequence: 'team_id', count: 1 });
  return null;
}
