// Reads of whole tables, one page after the other: the table, its rows, and the columns of an index in whose order they
// are read.

import {
  DELIVERY,
  DELIVERY_POSITION,
  DOCUMENT,
  DOCUMENT_KEY,
  ENDPOINT_POSITION,
  FAILING_ENDPOINT,
  RENAME,
  RENAME_POSITION,
  toUserGroups,
  USAGE_COUNT,
  USAGE_POSITION,
  USER_GROUP,
  USER_GROUP_POSITION,
} from './entities.ts';
import type { Entity, RowShape } from './row-shape.ts';

export interface Scan<Position extends object, Row extends object> {
  table: string;
  rows: Pick<Entity<Row>, 'names' | 'readAll'>;
  position: RowShape<Position>;
}

export interface ScanPage<Position> {
  /** The last row of the page before; null for the first page. */
  after: Position | null;
  limit: number;
}

export const SCANS = {
  userGroups: {
    table: 'user_groups',
    rows: { names: USER_GROUP.names, readAll: toUserGroups },
    position: USER_GROUP_POSITION,
  },
  documents: { table: 'documents', rows: DOCUMENT, position: DOCUMENT_KEY },
  renames: { table: 'user_group_renames', rows: RENAME, position: RENAME_POSITION },
  deliveries: { table: 'deliveries', rows: DELIVERY, position: DELIVERY_POSITION },
  failingEndpoints: {
    table: 'failing_webhook_endpoints',
    rows: FAILING_ENDPOINT,
    position: ENDPOINT_POSITION,
  },
  usage: { table: 'usage_counts', rows: USAGE_COUNT, position: USAGE_POSITION },
};
