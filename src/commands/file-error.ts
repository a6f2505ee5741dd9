// Node's errors do not tell people which file a command wanted to use, and for what.

/** Throws what `explain` makes of an error of Node's about a file, and every other error as it is. */
export function explainFile(error: unknown, explain: (message: string) => Error): never {
  const { syscall, message } = error as NodeJS.ErrnoException;
  throw syscall === undefined ? error : explain(message);
}
