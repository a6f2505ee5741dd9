// Counted warnings about failed authentication: one line per interval, however many requests fail.

import type { Logger } from 'pino';
import type { AuthenticationFailure } from '../../operations/api-token/authenticate.ts';

const INTERVAL_MS = 10_000;
/** Maximum number of addresses counted separately per interval; other failures count only in the total. */
const MAX_ADDRESSES = 1_000;

export class AuthenticationFailureLog {
  readonly #log: Logger;
  #failures = 0;
  #reasons: Partial<Record<AuthenticationFailure, number>> = {};
  readonly #addresses = new Map<string, number>();
  #timer: NodeJS.Timeout | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  add(reason: AuthenticationFailure, address: string): void {
    this.#failures++;
    this.#reasons[reason] = (this.#reasons[reason] ?? 0) + 1;
    const count = this.#addresses.get(address) ?? 0;
    if (count > 0 || this.#addresses.size < MAX_ADDRESSES) this.#addresses.set(address, count + 1);
    this.#timer ??= setTimeout(() => this.flush(), INTERVAL_MS).unref();
  }

  /** Logs the failures of this interval, and the address that most of them came from. */
  flush(): void {
    if (this.#timer === null) return;
    clearTimeout(this.#timer);
    this.#timer = null;
    const [[address, ofAddress]] = [...this.#addresses].toSorted(([, a], [, b]) => b - a) as [
      [string, number],
    ];
    const [failures, reasons] = [this.#failures, this.#reasons];
    const addresses = this.#addresses.size;
    this.#log.warn({ failures, reasons, addresses, address, ofAddress }, 'requests failed authentication');
    this.#failures = 0;
    this.#reasons = {};
    this.#addresses.clear();
  }
}
