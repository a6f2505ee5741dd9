// Checks properties against their schema in threads, so that no schema delays the requests of other tenants.
// Almost every check takes less time than a fast thread allows; a check that takes longer is repeated in the
// slow thread. A tenant with many such checks uses only the slow thread until it has paid back the time. It
// thus takes a thousandth of the time of a fast thread at most, during which the other one serves.

import { setNewest } from '../../../domain/bounded-map.ts';
import type { JsonText } from '../../../domain/json/strict-json.ts';
import type { Violation } from '../../../problem.ts';
import { tooBusy } from '../../refusals.ts';
import { Lane } from './lane.ts';
import type { ThreadLimits } from './thread.ts';
import { TimeAccounts } from './time-accounts.ts';
import type { Check, CheckOutcome } from './validator-thread.ts';

/**
 * Limits of the fast threads. A few KiB of properties take less than a millisecond, 64 KiB 5 to 20 ms;
 * compiling a schema of 64 KiB takes 20 to 50 ms.
 */
const FAST: ThreadLimits = { compileMs: 50, checkMs: 10, niceness: 0 };
/**
 * Limits of the slow thread. It gives way to the other threads of the process if there are not enough
 * processors, but does not starve.
 */
const SLOW: ThreadLimits = { compileMs: 1_000, checkMs: 250, niceness: 5 };
/** Maximum wait: a request that waits longer could not be answered in time. */
const MAX_WAIT_MS = 1_500;
/** Number of timeouts after which a schema is checked last. */
const MAX_TIMEOUTS = 3;
const MAX_TIMED_OUT_SCHEMAS = 100;

/** The schema cannot be compiled, or takes too long. */
export class PropertySchemaInvalid extends Error {
  override readonly name = 'PropertySchemaInvalid';
  readonly pointer: string;
  /** Whether checks with this schema have timed out repeatedly. */
  readonly isRepeated: boolean;

  constructor(pointer: string, message: string, isRepeated: boolean) {
    super(message);
    this.pointer = pointer;
    this.isRepeated = isRepeated;
  }
}

const EXCEEDED = {
  compile: 'takes too long to compile',
  check: 'takes too long to check',
  memory: 'needs too much memory to check',
} as const;

/** Shared, because under overload capturing a stack trace for each request is too expensive. */
export const OVERLOADED = tooBusy('Too many properties are waiting to be checked. Retry later.');

/** Violations of each of the properties, or why there are none. Can be sent between threads. */
export type Validation =
  | { violations: Violation[][] }
  | { invalid: string; pointer: string; isRepeated: boolean }
  | { overloaded: true };

export abstract class Validator {
  /**
   * Validates properties. `tenant` is the workspace of the schema. If `properties` is null, compiles the
   * schema and tries it with examples.
   */
  abstract validate(
    tenant: number,
    schema: JsonText,
    properties: readonly JsonText[] | null,
  ): Promise<Validation>;

  /** Throws `PropertySchemaInvalid`. */
  async compile(tenant: number, schema: JsonText): Promise<void> {
    violationsIn(await this.validate(tenant, schema, null));
  }

  /**
   * Returns the violations of each of the properties. Throws `PropertySchemaInvalid` if checking all of them
   * takes too long.
   */
  async check(tenant: number, schema: JsonText, properties: readonly JsonText[]): Promise<Violation[][]> {
    return violationsIn(await this.validate(tenant, schema, properties));
  }
}

function violationsIn(validation: Validation): Violation[][] {
  if ('violations' in validation) return validation.violations;
  if ('overloaded' in validation) throw OVERLOADED;
  throw new PropertySchemaInvalid(validation.pointer, validation.invalid, validation.isRepeated);
}

export class PropertyValidator extends Validator implements AsyncDisposable {
  readonly #accounts = new TimeAccounts();
  readonly #fast = new Lane({
    limits: FAST,
    threads: 2,
    admits: (check) => this.#isFast(check),
    onSpent: ({ tenant }, outcome) => this.#charge(tenant, outcome),
  });
  readonly #slow = new Lane({ limits: SLOW, threads: 1 });
  /** Number of timeouts of each schema, least recent first. */
  readonly #timeouts = new Map<string, number>();
  readonly #maxWaitMs: number;

  /**
   * Creates a validator for a command, whose checks wait for a thread as long as it takes: no caller gives
   * up.
   */
  static forCommand(): PropertyValidator {
    return new PropertyValidator(Number.POSITIVE_INFINITY);
  }

  constructor(maxWaitMs = MAX_WAIT_MS) {
    super();
    this.#maxWaitMs = maxWaitMs;
  }

  async validate(tenant: number, schema: JsonText, properties: Check['properties']): Promise<Validation> {
    const check = { tenant, schema, properties };
    const startBy = performance.now() + this.#maxWaitMs;
    if (this.#isFast(check)) {
      const fast = await this.#fast.run(check, { isLowPriority: false, startBy });
      if (fast.result !== 'exceeded' && fast.result !== 'stalled') return toValidation(fast);
    }
    const isLowPriority = this.#timeoutCount(check) >= MAX_TIMEOUTS;
    const outcome = await this.#slow.run(check, { isLowPriority, startBy });
    if (properties?.length === 1) this.#charge(tenant, outcome);
    const isRepeated = properties !== null && outcome.result === 'exceeded' && this.#countTimeout(check);
    return toValidation(outcome, isRepeated);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#fast, this.#slow].map((each) => each.close()));
  }

  #isFast({ tenant, properties }: Check): boolean {
    return properties?.length === 1 && !this.#accounts.owes(tenant);
  }

  /**
   * Charges a tenant for a slow check of one group. Trying a schema and checking many properties are not
   * charged, because only the slow thread does that.
   */
  #charge(tenant: number, { spentMs }: CheckOutcome): void {
    this.#accounts.charge(tenant, spentMs - FAST.checkMs);
  }

  #timeoutCount(check: Check): number {
    return this.#timeouts.get(schemaKey(check)) ?? 0;
  }

  /** Counts a timeout of the schema. Returns whether it has timed out repeatedly. */
  #countTimeout(check: Check): boolean {
    const timeouts = this.#timeoutCount(check) + 1;
    setNewest(this.#timeouts, schemaKey(check), timeouts, MAX_TIMED_OUT_SCHEMAS);
    return timeouts >= MAX_TIMEOUTS;
  }
}

/** Two tenants may have the same schema, so the key includes the tenant. */
function schemaKey({ tenant, schema }: Check): string {
  return `${tenant} ${schema}`;
}

/** Converts an outcome. Throws the failure of a thread. */
function toValidation(outcome: CheckOutcome, isRepeated = false): Validation {
  switch (outcome.result) {
    case 'checked':
      return { violations: outcome.violations };
    case 'unusable_schema':
      return { pointer: outcome.pointer, invalid: outcome.detail, isRepeated };
    case 'exceeded':
      return { pointer: '', invalid: EXCEEDED[outcome.limit], isRepeated };
    case 'overloaded':
    case 'stalled':
      return { overloaded: true };
    case 'failed':
      throw outcome.error;
    default:
      return outcome satisfies never;
  }
}
