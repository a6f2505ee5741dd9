// Result of a check: what was found and, if that is a problem, what to do.

import { SchemaTooNew } from '../../store/migration.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { errorMessage } from '../../system/error-message.ts';

export type CheckResult =
  | { status: 'ok' | 'skipped'; message: string }
  | { status: 'warning' | 'failed'; message: string; remedy: string };

export type Check = { name: string } & CheckResult;

export function ok(message: string): CheckResult {
  return { status: 'ok', message };
}

/** The check does not apply, or lacks what it needs. */
export function skipped(message: string): CheckResult {
  return { status: 'skipped', message };
}

/** The service works, but something may go wrong. */
export function warning(message: string, remedy: string): CheckResult {
  return { status: 'warning', message, remedy };
}

/** The service does not work, or not completely. */
export function failed(message: string, remedy: string): CheckResult {
  return { status: 'failed', message, remedy };
}

export const SEE_REASONS = 'see the reasons under "Log messages" in docs/troubleshoot.md';
export const GIVE_ACCESS =
  'run doctor as the user of the service, to whom the file and its directory must belong';

/** Runs one check. An error fails it; `remedy` does not apply to errors of the database itself. */
export async function attempt(
  name: string,
  remedy: string,
  check: () => Promise<CheckResult> | CheckResult,
): Promise<Check> {
  try {
    return { name, ...(await check()) };
  } catch (error) {
    const isOfDatabase = error instanceof StoreUnavailable && !(error instanceof SchemaTooNew);
    return { name, ...failed(errorMessage(error), isOfDatabase ? SEE_REASONS : remedy) };
  }
}
