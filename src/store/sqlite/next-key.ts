// Finds the first row of the next key in an index with many rows for each key. For `(a, b) > (?, ?)`, SQLite
// reads all rows of the key itself first: a million events, in the thread that serves callers.

import type { Cell, Row, RowShape } from '../row-shape.ts';
import type { Connection } from './file/connection.ts';

/** `select` returns a statement with a condition on the columns of the key, sorted by these columns. */
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
