export interface Statement {
  /** Names the prepared statement on PostgreSQL; each name belongs to exactly one text. */
  name: string;
  sql: string;
}

/** Tags the text of a statement with its name. */
export function statement(
  name: string,
): (parts: TemplateStringsArray, ...values: (string | number)[]) => Statement {
  return (parts, ...values) => ({ name, sql: String.raw({ raw: parts }, ...values).trim() });
}
