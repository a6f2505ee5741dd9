import type { Cell, Row } from './row-shape.ts';

export interface Statement {
  /** Names the prepared statement on PostgreSQL; each name belongs to exactly one text. */
  name: string;
  sql: string;
}

/** A statement with its parameters, and the meaning of its rows. */
export interface Call<Result> {
  statement: Statement;
  values: readonly Cell[];
  toResult: (rows: readonly Row[]) => Result;
}

/** Tags the text of a statement with its name. */
export function statement(
  name: string,
): (parts: TemplateStringsArray, ...values: (string | number)[]) => Statement {
  return (parts, ...values) => ({ name, sql: String.raw({ raw: parts }, ...values).trim() });
}
