// Passes rows as parameters: one array per column, which the statement reads as the table `sent`.

import type { Cell, Field, RowShape } from '../row-shape.ts';

// biome-ignore lint/suspicious/noExplicitAny: only the columns matter.
type AnyShape = RowShape<any>;

/** `$1::integer[], $2::bigint[], …` */
function arrayParameters({ columns }: AnyShape): string {
  return columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
}

/** The table `sent` for a `from` clause. Its parameters are the first ones of the statement. */
export function sentRows(shape: AnyShape): string {
  return `unnest(${arrayParameters(shape)}) as sent (${shape.names})`;
}

/** The same with the column `ordinal`, the number of the row from 1. */
export function numberedRows(shape: AnyShape): string {
  return `unnest(${arrayParameters(shape)}) with ordinality as sent (${shape.names}, ordinal)`;
}

/** Parameter that follows those of `sentRows`, by its number among these. */
export function parameterAfter({ columns }: AnyShape, number = 1): string {
  return `$${columns.length + number}`;
}

/** Whether the row `stored` has the values of the row `sent` in the columns of the shape. */
export function isSent({ columns }: AnyShape): string {
  return columns.map(({ name }) => `stored.${name} = sent.${name}`).join(' and ');
}

/** The parameters of `sentRows`. */
export function toArrays<Value extends object>(shape: RowShape<Value>, values: readonly Value[]): Cell[][] {
  const rows = values.map((value) => shape.cells(value));
  return shape.columns.map((_, column) => rows.map((row) => row[column]!));
}

/** Field that a command may leave unchanged: undefined, which the column `flag` distinguishes from null. */
export function optional<Value>(flag: string, field: Field<Value>): Field<Value | undefined> {
  return {
    columns: [{ name: flag, type: 'boolean' }, ...field.columns],
    write: (value, cells) => {
      cells.push(String(value !== undefined));
      if (value === undefined) cells.push(...field.columns.map(() => null));
      else field.write(value, cells);
    },
  };
}
