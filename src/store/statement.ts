import type { Cell, Entity, Row } from './row-shape.ts';

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

// Calls by what their rows mean.

/** The first row; null if there is none. */
export function first<Value extends object>(
  entity: Entity<Value>,
  statement: Statement,
  values: readonly Cell[],
): Call<Value | null> {
  return { statement, values, toResult: ([row]) => entity.readOrNull(row) };
}

export function all<Value extends object>(
  entity: Entity<Value>,
  statement: Statement,
  values: readonly Cell[],
): Call<Value[]> {
  return { statement, values, toResult: (rows) => entity.readAll(rows) };
}

/** Returns the only column of the only row; `absent` if there may be none. */
export function one<Value extends Cell>(
  statement: Statement,
  values: readonly Cell[] = [],
  absent?: Value,
): Call<Value> {
  return { statement, values, toResult: ([row = [absent]]) => row[0] as Value };
}

/** Returns the only column of every row. */
export function column<Value extends Cell>(
  statement: Statement,
  values: readonly Cell[] = [],
): Call<Value[]> {
  return { statement, values, toResult: (rows) => rows.map(([value]) => value as Value) };
}

/** Whether there is a row. */
export function exists(statement: Statement, values: readonly Cell[]): Call<boolean> {
  return { statement, values, toResult: (rows) => rows.length > 0 };
}

/** Returns nothing. */
export function run(statement: Statement, values: readonly Cell[]): Call<void> {
  return { statement, values, toResult: () => {} };
}
