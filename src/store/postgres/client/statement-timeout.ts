/** Statement timeout if the settings have none. No imports, so that reading this file loads no adapter. */
export const DEFAULT_STATEMENT_TIMEOUT_MS = 2_000;
