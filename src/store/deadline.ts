// A promise that is not waited for beyond a moment. The moments are those of `performance.now()`.

/** As the promise; rejects with what `late` makes where it has not settled by then. */
export async function settledBy<Result>(
  moment: number,
  promise: Promise<Result>,
  late: () => Error,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), Math.max(0, moment - performance.now()));
  });
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
