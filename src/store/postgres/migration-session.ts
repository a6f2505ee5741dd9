// What looks at the database before it is served, and what migrates it, has of the connection.

/** Runs SQL, several statements where there are no values; gives rows as arrays. Throws `Failure`. */
type RunSql = (sql: string, values?: unknown[]) => Promise<unknown[][]>;

export interface MigrationSession {
  /** A statement that must be quick: a server that has fallen silent is found out. */
  ask: RunSql;
  /** As long as it takes, which is also how long another process does the same. */
  change: RunSql;
}
