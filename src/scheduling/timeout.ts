// Deadlines for promises.

/** The promise; rejects with `timeoutError()` if it has not settled by `deadline` (`performance.now()`). */
export async function withDeadline<Result>(
  deadline: number,
  promise: Promise<Result>,
  timeoutError: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError()), Math.max(0, deadline - performance.now()));
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
