// The first row of the next key in an index that has many rows of each key. Of `(a, b) > (?, ?)` SQLite reads all rows of
// the key itself first: a million events, and in the thread that serves callers.

import type { Cell, RowShape } from '../row-shape.ts';
import type { Connection, Row } from './file/connection.ts';

/** `select` returns the statement for a condition on the columns of the key, which also sorts by them. */
export function nextKey(
  { columns }: Pick<RowShape<never>, 'columns'>,
  select: (condition: string) => string,
): (connection: Connection, after: readonly Cell[]) => Row | undefined {
  // The last column first: the keys that share all others come next.
  const statements = columns
    .map((column, index) =>
      select(
        [...columns.slice(0, index).map(({ name }) => `${name} = ?`), `${column.name} > ?`].join(' and '),
      ),
    )
    .reverse();
  return (connection, after) => {
    for (const [index, sql] of statements.entries()) {
      const row = connection.get(sql, after.slice(0, columns.length - index));
      if (row !== undefined) return row;
    }
    return undefined;
  };
}
