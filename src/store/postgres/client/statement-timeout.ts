/** Timeout of a statement, if the settings have none. A file without imports, so that reading it loads no adapter. */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;
