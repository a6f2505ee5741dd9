// Classifies errors of PostgreSQL: transient failure or bug; whether the statement may have been applied; and whether
// the connection, or all connections, are lost.

import pg from 'pg';
import { errorMessage } from '../../../system/error-message.ts';
import { StoreUnavailable } from '../../port.ts';

/**
 * - `conflict`: rolled back in favour of another transaction (serialization failure, deadlock); retry.
 * - `refused`: nothing was applied.
 * - `unknown`: the response was lost; it was applied entirely or not at all.
 */
type Outcome = 'conflict' | 'refused' | 'unknown';

/** A failure that may succeed on a retry. */
export class TransientError extends StoreUnavailable {
  readonly outcome: Outcome;
  /** Whether the connection survived; `all lost`: other connections to the same server are probably lost too. */
  readonly connection: 'good' | 'lost' | 'all lost';

  constructor(cause: unknown, outcome: Outcome, connection: TransientError['connection']) {
    super(`PostgreSQL: ${errorMessage(cause)}${remedyFor(cause)}`, { cause });
    this.outcome = outcome;
    this.connection = connection;
  }

  override get isTransient(): boolean {
    const message = errorMessage(this.cause);
    const isRefused = REFUSED.test(message) || REFUSED_TLS.test(this.#code) || isAboutFile(this.cause);
    return !isRefused && !REFUSED_SETTING.test(this.#code) && !NEEDS_OPERATOR.test(this.#code);
  }

  /** Too many connections: the server or its pooler has none left. */
  get isConnectionLimit(): boolean {
    return this.#code === TOO_MANY_CONNECTIONS || NO_CONNECTIONS_LEFT.test(errorMessage(this.cause));
  }

  /** Whether all connections of this process's pool are in use. */
  get isBusy(): boolean {
    return this.cause instanceof NoFreeConnection || errorMessage(this.cause) === NO_FREE_CONNECTION;
  }

  /** Whether the server is read-only. After a failover, a new connection may reach the new primary. */
  get isReadOnly(): boolean {
    return this.#code === READ_ONLY;
  }

  /** Whether the server did not respond at all. */
  get isUnresponsive(): boolean {
    return NO_RESPONSE.includes(errorMessage(this.cause));
  }

  get #code(): string {
    return (this.cause as { code?: string }).code ?? '';
  }
}

/** A concurrent change has defeated the transaction: the next attempt sees it. */
export function conflict(cause: unknown): TransientError {
  return new TransientError(cause, 'conflict', 'good');
}

/** No connection became free before the deadline. */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection';
}

/** No server answers at the address, or the name does not resolve. */
const NOT_REACHED = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const CONFLICTS = ['40001', '40P01'];
const READ_ONLY = '25006';
/** Wrong user or password, missing database, schema or table, insufficient privilege. */
const NEEDS_OPERATOR = /^(?:28...|3D000|3F000|42P01|42501)$/;
/** A prepared statement is missing or exists already: a pooler has switched the server session. */
const OTHER_SESSION = /^(?:26000|42P05)$/;
/** "cached plan must not change result type": a table has changed, so all sessions must prepare again. */
const CHANGED_TABLE = 'RevalidateCachedQuery';
/**
 * Prefixes of messages without a code of their own: of `pg`, if the password is missing or rejected, or TLS is; of
 * PgBouncer, which reports all of its refusals as protocol violations.
 */
const REFUSED =
  /^(?:SASL: |The server does not support SSL|unsupported startup parameter|no such database|password authentication failed)/;
/** Invalid value, and unknown name, of a setting that the options of the URL set. */
const REFUSED_SETTING = /^(?:22023|42704)$/;
/**
 * Node's codes for a certificate that this side rejects, for a TLS alert that rejects this side, and for files of this
 * side that cannot be used, such as a key that does not fit its certificate.
 */
const REFUSED_TLS = /CERT|LEAF_SIGNATURE|^ERR_SSL_.*_ALERT_|^ERR_OSSL_/;
const TOO_MANY_CONNECTIONS = '53300';
/** Prefixes of PgBouncer's messages about its own limits. */
const NO_CONNECTIONS_LEFT = /^(?:no more connections allowed|client connections exceeded)/;
/** The server is starting, shutting down or recovering. */
const STARTING_UP = '57P03';
/** Severities; translated if the server's messages are not in English. */
const FATAL = ['FATAL', 'PANIC'];
/** In any language: operator intervention, or idle-in-transaction and transaction timeouts. */
const ENDS_SESSION = /^(?:57P..|25P0[34])$/;
/** Connection exception, reported by a server that queried another one. */
const LOST_OTHER = /^08...$/;
/** Functions of Citus whose errors mean a lost node but have no code of their own. */
const LOSING_NODE = ['MarkRemoteTransactionFailed', 'CheckRemoteTransactionsHealth', 'ReportResultError'];
/** `internal_error`. Citus passes on the code of an error that a node itself reported. */
const NO_CODE = 'XX000';
/**
 * Lock timeout and statement timeout; the classes insufficient resources and system error; a damaged page of a table or
 * an index.
 */
const TEMPORARY = /^(?:55P03|57014|53...|58...|XX00[12])$/;
/**
 * Functions that refuse to assign an id of a transaction or of a group of lockers until the database has been vacuumed
 * (wraparound). Their code, 54000, also means a statement or a row that is too large.
 */
const OUT_OF_IDS = ['GetNewTransactionId', 'GetNewMultiXactId'];
/** Messages of `pg` and pg-pool for their own timeouts. */
const CONNECT_TIMEOUT = 'timeout expired';
const READ_TIMEOUT = 'Query read timeout';
const NO_RESPONSE = [READ_TIMEOUT, 'Connection terminated due to connection timeout'];
const NO_FREE_CONNECTION = 'timeout exceeded when trying to connect';

/**
 * Classifies the error of a statement that was sent; returns it unchanged if it is not transient. `outlasted`: we
 * waited longer than the server's own statement timeout.
 */
export function statementError(error: unknown, outlasted: boolean): unknown {
  if (error instanceof TypeError || error instanceof RangeError) return error;
  if (!(error instanceof pg.DatabaseError)) {
    // An error of the socket or the client: what broke this connection usually broke the others too.
    const isEarlyTimeout = errorMessage(error) === READ_TIMEOUT && !outlasted;
    return new TransientError(error, 'unknown', isEarlyTimeout ? 'lost' : 'all lost');
  }
  const { code = '', routine = '' } = error;
  if (code === READ_ONLY || routine === CHANGED_TABLE)
    return new TransientError(error, 'refused', 'all lost');
  // The session may end after a commit; an error that leaves the session open has rolled the statement back.
  if (endsSession(error)) return new TransientError(error, 'unknown', 'all lost');
  // Work that another node of Citus was asked to do may have been applied.
  const hasLostNode = code === NO_CODE && LOSING_NODE.includes(routine);
  if (LOST_OTHER.test(code) || hasLostNode) return new TransientError(error, 'unknown', 'good');
  if (CONFLICTS.includes(code)) return conflict(error);
  if (OTHER_SESSION.test(code)) return new TransientError(error, 'refused', 'lost');
  // The error is logged. Its detail may contain the row, and its context the parameters of the statement
  // (log_parameter_max_length_on_error).
  error.detail = undefined;
  error.where = undefined;
  const isTransient = TEMPORARY.test(code) || NEEDS_OPERATOR.test(code) || OUT_OF_IDS.includes(routine);
  return isTransient ? new TransientError(error, 'refused', 'good') : error;
}

export function endsSession({ code = '', severity = '' }: pg.DatabaseError): boolean {
  return FATAL.includes(severity) || ENDS_SESSION.test(code);
}

/** Connecting failed. That includes a wrong password, which an operator can fix while the service runs. */
export function connectError(error: unknown): TransientError {
  return new TransientError(error, 'refused', 'lost');
}

/** Whether another host may accept a connection that this one refused, as libpq decides. */
export function isAboutHost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code === STARTING_UP;
  return !connectError(error).isBusy;
}

/** Returns the error of a transaction that was not committed: nothing was applied, whatever the error. */
export function errorBeforeCommit(error: unknown): unknown {
  if (!(error instanceof TransientError) || error.outcome !== 'unknown') return error;
  return new TransientError(error.cause, 'refused', error.connection);
}

/** Whether a file of TLS cannot be read. */
function isAboutFile(error: unknown): boolean {
  return (error as { syscall?: string }).syscall === 'open';
}

function remedyFor(error: unknown): string {
  if (isAboutFile(error)) return '';
  const { code = '' } = error as { code?: string };
  if (!NOT_REACHED.has(code) && errorMessage(error) !== CONNECT_TIMEOUT) return '';
  return '; check the address, and that the server is running';
}
