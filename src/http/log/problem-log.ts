// Logs requests that failed through no fault of the caller: bugs with their stack, database failures in one
// short line, each with a limit on the lines per second. Of the caller's mistakes, only failed authentication
// is logged.

import type { BlockList } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { authenticationFailure } from '../../operations/api-token/authenticate.ts';
import type { Problem } from '../../problem.ts';
import { StoreUnavailable } from '../../store/port.ts';
import { findClientAddress } from '../request/client-address.ts';
import { httpStatus } from '../response/problem.ts';
import { AuthenticationFailureLog } from './authentication-failure-log.ts';
import { parseTraceId } from './trace-context.ts';

/** Limits of the process, whose threads have equal shares. */
const MAX_FAILURE_LINES_PER_SECOND = 10;
const MAX_REFUSAL_LINES_PER_SECOND = 100;

type FailedRequest = Pick<FastifyRequest, 'id' | 'raw'>;

export class ProblemLog {
  readonly #log: Logger;
  readonly #trustedProxies: BlockList;
  readonly #authenticationFailures: AuthenticationFailureLog;
  readonly #nextDatabaseFailure: LineLimit;
  readonly #nextBug: LineLimit;
  readonly #nextRefusal: LineLimit;

  constructor(log: Logger, trustedProxies: BlockList, threads: number) {
    this.#nextDatabaseFailure = lineLimit(MAX_FAILURE_LINES_PER_SECOND, threads);
    this.#nextBug = lineLimit(MAX_FAILURE_LINES_PER_SECOND, threads);
    this.#nextRefusal = lineLimit(MAX_REFUSAL_LINES_PER_SECOND, threads);
    this.#log = log;
    this.#trustedProxies = trustedProxies;
    this.#authenticationFailures = new AuthenticationFailureLog(log);
  }

  add(problem: Problem, request: FailedRequest): void {
    const failure = authenticationFailure(problem);
    if (failure !== null) {
      this.#authenticationFailures.add(failure, findClientAddress(request.raw, this.#trustedProxies));
    } else if (httpStatus(problem) >= 500) {
      this.#addFailure(problem, request);
    }
  }

  /** Logs the counts that are not logged yet. */
  close(): void {
    this.#authenticationFailures.flush();
  }

  #addFailure(problem: Problem, { id: requestId, raw }: FailedRequest): void {
    const { code, cause } = problem;
    const fields = { requestId, traceId: parseTraceId(raw.headers), code };
    if (code === 'overloaded' || code === 'shutting_down') {
      const suppressed = this.#nextRefusal();
      if (suppressed !== null) this.#log.warn({ ...fields, ...suppressed }, problem.message);
    } else {
      const suppressed = code === 'database_unavailable' ? this.#nextDatabaseFailure() : this.#nextBug();
      const why = cause instanceof StoreUnavailable ? { reason: cause.message } : { err: cause ?? problem };
      if (suppressed !== null) this.#log.error({ ...fields, ...why, ...suppressed }, problem.message);
    }
  }
}

/** Returns how many lines were suppressed before this one, if any; null if this one is suppressed too. */
type LineLimit = () => { unlogged?: number } | null;

/** Limits one of `threads` to its share. */
function lineLimit(maxLines: number, threads: number): LineLimit {
  const max = Math.max(1, Math.floor(maxLines / threads));
  let second = 0;
  let lines = 0;
  let unlogged = 0;
  return () => {
    const now = Math.floor(performance.now() / 1_000);
    if (now !== second) [second, lines] = [now, 0];
    if (lines === max) {
      unlogged++;
      return null;
    }
    lines++;
    const before = unlogged;
    unlogged = 0;
    return before > 0 ? { unlogged: before } : {};
  };
}
