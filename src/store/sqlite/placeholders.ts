import type { Field } from '../row-shape.ts';

/** `?, ?, …`: one parameter for each column. */
export function placeholders({ columns }: Pick<Field<never>, 'columns'>): string {
  return columns.map(() => '?').join(', ');
}

/** A statement whose parameters may be numbered as on PostgreSQL, `$1`, as SQLite numbers them, `?1`. */
export function withNumberedParameters(sql: string): string {
  return sql.replaceAll('$', '?');
}
