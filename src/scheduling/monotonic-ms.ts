/** A clock that all threads share, in milliseconds: `performance.now()` starts with its thread. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1_000 + nanoseconds / 1e6;
}
