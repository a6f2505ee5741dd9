// The result of a check: what was found, and if that is not as it should be, what to do.

export type Check =
  | { name: string; status: 'ok' | 'skipped'; message: string }
  | { name: string; status: 'warning' | 'failed'; message: string; remedy: string };

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message };
}

/** The check does not apply, or lacks what it needs. */
export function skipped(name: string, message: string): Check {
  return { name, status: 'skipped', message };
}

/** The service works, but something may go wrong. */
export function warning(name: string, message: string, remedy: string): Check {
  return { name, status: 'warning', message, remedy };
}

/** The service does not work, or not completely. */
export function failed(name: string, message: string, remedy: string): Check {
  return { name, status: 'failed', message, remedy };
}

/** Runs one check. An error fails it. */
export async function attempt(
  name: string,
  remedy: string,
  check: () => Promise<Check> | Check,
): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    return failed(name, (error as Error).message, remedy);
  }
}
