/** Creates the value on first use, so that start-up does not wait for it; retries after a failure. */
export function lazy<Value>(create: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | undefined;
  return () => {
    value ??= create().catch((error) => {
      // A transient failure, for example too many open files.
      value = undefined;
      throw error;
    });
    return value;
  };
}
