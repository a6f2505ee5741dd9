// Node's file system errors do not say what a command needed the file for.

/** Throws the result of `explain` for a system error, and rethrows every other error. */
export function explainFileError(error: unknown, explain: (message: string) => Error): never {
  const { syscall, message } = error as NodeJS.ErrnoException;
  throw syscall === undefined ? error : explain(message);
}
