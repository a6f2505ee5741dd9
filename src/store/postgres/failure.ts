// What an error of PostgreSQL means to the one who asked: a mistake of the program, or a trouble that passes; and
// whether what was sent may have happened all the same.

import pg from 'pg';
import { StoreUnavailable } from '../store.ts';

/**
 * - `conflict`: undone for the sake of another transaction; the database asks to try again.
 * - `refused`: nothing has happened.
 * - `unknown`: the answer was lost; it has happened whole or not at all.
 */
export type Outcome = 'conflict' | 'refused' | 'unknown';

/** A trouble that passes. */
export class Failure extends StoreUnavailable {
  readonly outcome: Outcome;
  /** Whether the connection has survived, or other connections to the same server are likely to be no better. */
  readonly connection: 'good' | 'lost' | 'all lost';

  constructor(cause: unknown, outcome: Outcome, connection: Failure['connection']) {
    super(`PostgreSQL: ${messageOf(cause)}`, { cause });
    this.outcome = outcome;
    this.connection = connection;
  }

  override get passesByItself(): boolean {
    return !NEEDS_OPERATOR.test(this.#code) && !messageOf(this.cause).startsWith(NO_LOGIN);
  }

  /** Whether the server has no connection to give. */
  get isFull(): boolean {
    return this.#code === TOO_MANY_CONNECTIONS;
  }

  /** Whether all connections of this process are in use. */
  get isBusy(): boolean {
    return this.cause instanceof NoFreeConnection || messageOf(this.cause) === NO_FREE_CONNECTION;
  }

  /** Whether the server takes no writes. It may do so on a new connection, and its name may lead elsewhere by now. */
  get isReadOnly(): boolean {
    return this.#code === READ_ONLY;
  }

  /** Whether nothing came back at all. */
  get isSilence(): boolean {
    return SILENCE.includes(messageOf(this.cause));
  }

  get #code(): string {
    return (this.cause as { code?: string }).code ?? '';
  }
}

/** None has come free by the time that the caller had. */
export class NoFreeConnection extends Error {
  override readonly name = 'NoFreeConnection';
}

const CONFLICTS = ['40001', '40P01'];
const READ_ONLY = '25006';
/** A user, a password, a database, a schema or a table that is not there, or what the user may not do. */
const NEEDS_OPERATOR = /^(?:28...|3D000|3F000|42P01|42501)$/;
/** A prepared statement that is not there or is there already: a pooler has given the session to somebody else. */
const OTHER_SESSION = /^(?:26000|42P05)$/;
/** Where PostgreSQL finds that a table has changed in such a way that all sessions have to prepare anew. */
const CHANGED_TABLE = 'RevalidateCachedQuery';
/** How `pg` begins when it has no password, or cannot log in with it. */
const NO_LOGIN = 'SASL: ';
const TOO_MANY_CONNECTIONS = '53300';
/** Of an error, unless the server speaks another language than English. */
const FATAL = ['FATAL', 'PANIC'];
/** In any language: the server or the session is ended, or a transaction was idle for too long, or took too long. */
const ENDS_SESSION = /^(?:57P..|25P0[34])$/;
/** Connection exception: of a server that has asked another one. */
const LOST_OTHER = /^08...$/;
/** What of Citus tells that it has lost a node, beside errors that have a code for it. */
const LOSING_NODE = ['MarkRemoteTransactionFailed', 'CheckRemoteTransactionsHealth', 'ReportResultError'];
/** Of an error that a node has answered with, it gives the node's code. */
const NO_CODE = 'XX000';
/** Lock timeout, statement timeout; by class: insufficient resources, system error. */
const PASSING = /^(?:55P03|57014|53...|58...)$/;
/** The words of `pg` and its pool for their own timeouts, of statements and of connections. */
const READ_TIMEOUT = 'Query read timeout';
const SILENCE = [READ_TIMEOUT, 'Connection terminated due to connection timeout'];
const NO_FREE_CONNECTION = 'timeout exceeded when trying to connect';

/**
 * Of a statement that was sent. An error that is no passing trouble is given back as it is. `outlasted` says that the
 * server would have given up by itself before.
 */
export function failureOfStatement(error: unknown, outlasted: boolean): unknown {
  if (error instanceof TypeError || error instanceof RangeError) return error;
  if (!(error instanceof pg.DatabaseError)) {
    // Of the socket or of the client. What has ended this connection has seldom spared the others.
    const isOurHaste = messageOf(error) === READ_TIMEOUT && !outlasted;
    return new Failure(error, 'unknown', isOurHaste ? 'lost' : 'all lost');
  }
  const { code = '', severity = '', routine = '' } = error;
  if (code === READ_ONLY || routine === CHANGED_TABLE) return new Failure(error, 'refused', 'all lost');
  // What ends the session may come after a commit; an error that does not end it has undone its statement.
  if (FATAL.includes(severity) || ENDS_SESSION.test(code)) return new Failure(error, 'unknown', 'all lost');
  // But for what it has asked another one for.
  const hasLostNode = code === NO_CODE && LOSING_NODE.includes(routine);
  if (LOST_OTHER.test(code) || hasLostNode) return new Failure(error, 'unknown', 'good');
  if (CONFLICTS.includes(code)) return new Failure(error, 'conflict', 'good');
  if (OTHER_SESSION.test(code)) return new Failure(error, 'refused', 'lost');
  const isTrouble = PASSING.test(code) || NEEDS_OPERATOR.test(code);
  return isTrouble ? new Failure(error, 'refused', 'good') : error;
}

/** Of a connection that could not be had. A wrong password is one too: it can be set right while the service runs. */
export function failureOfConnecting(error: unknown): Failure {
  return new Failure(error, 'refused', 'lost');
}

/** Of a transaction that was not committed: nothing has happened, however it ended. */
export function failureBeforeCommit(error: unknown): unknown {
  if (!(error instanceof Failure) || error.outcome !== 'unknown') return error;
  return new Failure(error.cause, 'refused', error.connection);
}

function messageOf(error: unknown): string {
  // Where a name has several addresses, Node gives one error without words for all of them.
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}
