import type { Field } from '../row-shape.ts';

/** `?, ?, …`: one parameter for each column. */
export function placeholders({ columns }: Pick<Field<never>, 'columns'>): string {
  return columns.map(() => '?').join(', ');
}

/** Converts parameters that are numbered as on PostgreSQL, `$1`, to those of SQLite, `?1`. */
export function withNumberedParameters(sql: string): string {
  return sql.replaceAll('$', '?');
}
