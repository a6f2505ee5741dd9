// The message of a system error.

/** If a name has several addresses and none accepts a connection, Node throws one AggregateError without a message. */
export function errorMessage(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: readonly unknown[] };
  // OpenSSL ends its messages with a line break.
  return message?.trim() || errors?.map(errorMessage).join(', ') || code || String(error);
}
