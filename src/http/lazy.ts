// Values that are created on first use.

/** Creates the value on first use, so that start-up does not wait for it; retries after a failure. */
export function lazy<Args extends unknown[], Value>(
  create: (...args: Args) => Promise<Value>,
): (...args: Args) => Promise<Value> {
  let value: Promise<Value> | undefined;
  return (...args) => {
    value ??= create(...args).catch((error) => {
      // A transient failure, for example too many open files.
      value = undefined;
      throw error;
    });
    return value;
  };
}
