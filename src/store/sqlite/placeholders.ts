import type { Field } from '../row-shape.ts';

/** `?, ?, …`: one parameter for each column. */
export function placeholders({ columns }: Pick<Field<never>, 'columns'>): string {
  return columns.map(() => '?').join(', ');
}
